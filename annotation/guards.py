"""What every action on a sample asks first: who, whether the document is cleared, where the sample stands."""

from collections.abc import Collection

from django.utils.translation import gettext as _

from annotation.models import Candidate, Sample
from core.history import moved_on
from core.models import User
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from core.text import clean_text


def lock(sample: Sample) -> Sample:
    """Read the sample anew, with its row held to the end of the transaction. Every action begins with it."""
    rows = Sample.objects.select_for_update(of=("self",)).select_related("document_version", "document")
    sample.refresh_from_db(from_queryset=rows)
    return sample


def require_lead(by: User) -> None:
    if not by.is_lead:
        raise NotAllowed(_("Only a lead may do this."))


def require_expert(by: User) -> None:
    if not by.is_expert:
        raise NotAllowed(_("Only an expert may do this."))


def require_stage_worker(by: User) -> None:
    if not by.does_stage_work:
        raise NotAllowed(_("Leads do no stage work: this is for annotators and experts."))


def require_approved(sample: Sample) -> None:
    if sample.is_blocked:
        raise RuleBroken(
            _("The document's version %(number)s is not approved, so nothing may be done with %(sample)s.")
            % {"number": sample.document_version.number, "sample": sample.label},
            rule="document_not_approved",
        )


def require_state(sample: Sample, states: Collection[str]) -> None:
    if sample.state not in states:
        raise moved_on(sample, sample.state)


def require_step(candidate: Candidate, states: Collection[str]) -> None:
    """The step is open. Steps before it are done, steps after it are closed."""
    if candidate.state not in states:
        raise Conflict(
            _("This step is not open: the candidate is at “%(state)s”.") % {"state": candidate.get_state_display()},
            rule="step_not_open",
            state=candidate.state,
        )


def require_version(candidate: Candidate, version: int) -> None:
    if candidate.version != version:
        raise Conflict(
            _("The candidate was edited meanwhile: it is at version %(now)s, you saw version %(seen)s.")
            % {"now": candidate.version, "seen": version},
            rule="stale_version",
            version=candidate.version,
        )


def words(field: str, text: str, missing: str) -> str:
    """The text made storable and trimmed; Invalid at `field` when nothing is left."""
    text = clean_text(text).strip()
    if not text:
        raise Invalid({field: missing})
    return text


def reason_given(reason: str) -> str:
    return words("reason", reason, _("Say why."))
