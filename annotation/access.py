"""Who may look at what: the trail that led to a question is not shown to those who review its answer blind."""

from annotation.models import Participation, Sample
from annotation.workflow import Job
from core.models import User


def sees_trail(user: User, sample: Sample) -> bool:
    """Candidates, verdicts, submissions, feedback: for leads, and for all others who do not review the sample."""
    return user.is_lead or not Participation.objects.filter(sample=sample, person=user, job=Job.REVIEWS).exists()


def sees_audit(user: User, sample: Sample) -> bool:
    """The audit page: leads, experts who may judge the sample or have done so, and the annotator whose work it is."""
    return sees_trail(user, sample) and (user.is_lead or user.is_expert or sample.annotator_id == user.pk)
