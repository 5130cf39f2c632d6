"""What the API says about people and progress."""

from decimal import Decimal
from typing import Any

from django.contrib.auth.validators import UnicodeUsernameValidator
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from core.models import BenchmarkSettings, Event, User
from core.workflow import Role
from leading.inviting import MOST_DAYS
from leading.models import Invitation
from leading.workflow import LinkState


class PersonSerializer(serializers.ModelSerializer[User]):
    class Meta:
        model = User
        fields = [
            *("id", "username", "name", "pseudonym", "role", "languages", "tasks"),
            *("is_active", "date_joined", "last_login"),
        ]

    name = serializers.CharField(read_only=True)
    languages = serializers.ListField(
        source="work_languages", child=serializers.CharField(), read_only=True, help_text="of their work; empty: all"
    )
    tasks = serializers.ListField(
        source="work_tasks", child=serializers.CharField(), read_only=True, help_text="codes; empty: all"
    )


class WorkSerializer(serializers.Serializer[Any]):
    """What `next` offers to a person. An empty list is no limit."""

    languages = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    tasks = serializers.ListField(
        child=serializers.CharField(), required=False, default=list, help_text="codes or exact English names"
    )


class NewPersonSerializer(serializers.Serializer[Any]):
    """The password is made up when it is left out, and answered this once."""

    name = serializers.CharField(max_length=150, validators=[UnicodeUsernameValidator()])
    role = serializers.ChoiceField(choices=Role.choices)
    email = serializers.EmailField(required=False, default="")
    full_name = serializers.CharField(required=False, default="", max_length=150, allow_blank=True)
    password = serializers.CharField(required=False, default="", write_only=True, max_length=200, allow_blank=True)
    languages = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    tasks = serializers.ListField(child=serializers.CharField(), required=False, default=list)


class AddedPersonSerializer(PersonSerializer):
    class Meta(PersonSerializer.Meta):
        fields = [*PersonSerializer.Meta.fields, "password"]

    password = serializers.CharField(read_only=True)


class RoleSerializer(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=Role.choices)


class SendSerializer(serializers.Serializer[Any]):
    send = serializers.BooleanField(required=False, default=False, help_text="by e-mail too, if an address is known")


class ResetLinkSerializer(serializers.Serializer[Any]):
    """The link is answered this once: only its hash is kept."""

    link = serializers.CharField(read_only=True)
    expires_at = serializers.DateTimeField(read_only=True)
    sent = serializers.BooleanField(read_only=True, help_text="whether an e-mail took it")


class NewInvitationSerializer(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=Role.choices)
    email = serializers.EmailField(required=False, default="", allow_blank=True, help_text="the link is sent there too")
    languages = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    tasks = serializers.ListField(
        child=serializers.CharField(), required=False, default=list, help_text="codes or exact English names"
    )
    days = serializers.IntegerField(required=False, default=14, min_value=1, max_value=MOST_DAYS)


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    class Meta:
        model = Invitation
        fields = ["id", "role", "email", "languages", "tasks", "state", "made_by", "made_at", "expires_at", "used_at"]

    state = serializers.ChoiceField(choices=LinkState.choices, read_only=True)
    email = serializers.CharField(read_only=True, help_text="empty: nobody's in particular")
    made_by = serializers.CharField(source="made_by.username", read_only=True)


class MadeInvitationSerializer(InvitationSerializer):
    """With the link, this once."""

    class Meta(InvitationSerializer.Meta):
        fields = [*InvitationSerializer.Meta.fields, "link", "sent"]

    link = serializers.CharField(read_only=True)
    sent = serializers.BooleanField(read_only=True, help_text="whether an e-mail took it")


class NoticeSerializer(serializers.Serializer[Any]):
    """One line of the trail that concerns the person, in the words of the page."""

    number = serializers.IntegerField(help_text="of the line; what `seen` counts by")
    at = serializers.DateTimeField()
    by = serializers.CharField(
        source="by.username", default=None, allow_null=True, help_text="null: the system, or not told"
    )
    what = serializers.CharField()
    subject = serializers.CharField()
    url = serializers.CharField()
    reason = serializers.CharField()
    is_new = serializers.BooleanField()


@extend_schema_serializer(many=False)
class NoticesSerializer(serializers.Serializer[Any]):
    new = serializers.IntegerField(help_text="all that are new, also those beyond the list")
    seen_up_to = serializers.IntegerField()
    notices = NoticeSerializer(many=True)


class ReadUpToSerializer(serializers.Serializer[Any]):
    up_to = serializers.IntegerField(min_value=0, max_value=2**63 - 1, help_text="the number of the last one read")


class MarkSerializer(serializers.Serializer[Any]):
    seen_up_to = serializers.IntegerField()


class StoryCallSerializer(serializers.Serializer[Any]):
    model = serializers.CharField()
    simulated = serializers.BooleanField()
    state = serializers.CharField(help_text="in words")
    trouble = serializers.CharField()
    tokens_in = serializers.IntegerField(allow_null=True)
    tokens_out = serializers.IntegerField(allow_null=True)
    usd = serializers.DecimalField(max_digits=16, decimal_places=8, allow_null=True, help_text="leads only")


class StorySerializer(serializers.Serializer[Any]):
    """One line of a sample's story, in the words of the page."""

    at = serializers.DateTimeField()
    stage = serializers.CharField()
    by = serializers.CharField(source="by.username", default=None, allow_null=True, help_text="null: the system")
    what = serializers.CharField()
    more = serializers.ListField(child=serializers.CharField())
    state = serializers.CharField()
    reason = serializers.CharField()
    run = serializers.IntegerField(allow_null=True)
    usd = serializers.DecimalField(max_digits=16, decimal_places=8, allow_null=True, help_text="leads only")
    calls = StoryCallSerializer(many=True)


class StageSerializer(serializers.Serializer[Any]):
    state = serializers.CharField()
    count = serializers.IntegerField()
    oldest = serializers.DateTimeField(allow_null=True)
    blocked = serializers.IntegerField(help_text="of these, whose document lost its approval")
    ages = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="by days in the state: up to 1, up to 3, up to 7, more; empty where nothing waits any more",
    )


class CellSerializer(serializers.Serializer[Any]):
    secondary_task = serializers.CharField(source="task.name")
    language = serializers.CharField()
    bucket = serializers.CharField()
    target = serializers.IntegerField()
    accepted = serializers.IntegerField(source="done")
    under_way = serializers.IntegerField()
    missing = serializers.IntegerField(help_text="of the target, not accepted")
    to_plan = serializers.IntegerField(source="unplanned", help_text="of the target, neither accepted nor under way")
    blocked = serializers.IntegerField(help_text="accepted or under way, and the document lost its approval")
    own_target = serializers.BooleanField(source="is_special", help_text="false: the general figure")
    states = serializers.DictField(child=serializers.IntegerField(), help_text="samples by state, where there are some")


class StageCostSerializer(serializers.Serializer[Any]):
    stage = serializers.CharField(source="purpose")
    usd = serializers.DecimalField(max_digits=20, decimal_places=8)
    calls = serializers.IntegerField()
    unknown = serializers.IntegerField()


class CostSerializer(serializers.Serializer[Any]):
    usd = serializers.DecimalField(max_digits=16, decimal_places=8)
    calls = serializers.IntegerField()
    unknown = serializers.IntegerField(help_text="calls whose cost nobody knows, not in the sum")
    stages = StageCostSerializer(many=True)
    usd_per_accepted_sample = serializers.SerializerMethodField(
        help_text="null: nothing accepted here, or no cost known"
    )

    def get_usd_per_accepted_sample(self, cost: Any) -> Decimal | None:
        each: Decimal | None = cost.per_sample(self.context.get("accepted_here", 0))
        return None if each is None else round(each, 8)


class CostRowSerializer(serializers.Serializer[Any]):
    """`unpriced` calls have no known cost and `unforeseen` ones no estimate: neither is in the sums. An estimate is of
    one attempt; `paid_again` counts the attempts beyond the first that were paid."""

    key = serializers.CharField(help_text="model, stage, date or number of the sample; empty: of no sample")
    calls = serializers.IntegerField()
    answered = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    spent_usd = serializers.DecimalField(source="spent", max_digits=20, decimal_places=8)
    unpriced = serializers.IntegerField()
    paid_again = serializers.IntegerField(source="again")
    expected_usd = serializers.DecimalField(source="expected", max_digits=20, decimal_places=8)
    unforeseen = serializers.IntegerField()
    difference_percent = serializers.FloatField(
        source="difference", allow_null=True, help_text="each paid attempt against an estimate of its own"
    )
    difference_to_one_attempt_percent = serializers.FloatField(
        source="difference_once", allow_null=True, help_text="what was paid against one attempt for each call"
    )


class TrialCostsSerializer(serializers.Serializer[Any]):
    calls = serializers.IntegerField(source="count")
    spent_usd = serializers.DecimalField(source="spent", max_digits=20, decimal_places=8)
    unpriced = serializers.IntegerField()


@extend_schema_serializer(many=False)
class CostsSerializer(serializers.Serializer[Any]):
    by = serializers.CharField()
    total = CostRowSerializer(help_text="over all calls, each counted once however many runs read it")
    test_calls = TrialCostsSerializer(help_text="paid too, in none of the rows")
    rows = CostRowSerializer(many=True)


class ForecastSerializer(serializers.Serializer[Any]):
    """When every cell holds its target, at the pace of the last days. Without `finish`, `why_not` says why in words."""

    accepted = serializers.IntegerField()
    target = serializers.IntegerField()
    missing = serializers.IntegerField(help_text="summed up cell by cell: a surplus stands for nothing")
    under_way = serializers.IntegerField(help_text="of the missing")
    to_plan = serializers.IntegerField(source="unplanned", help_text="of the missing")
    counted = serializers.IntegerField(help_text="accepted in the last `days` days")
    days = serializers.IntegerField(source="span")
    per_week = serializers.FloatField()
    finish = serializers.DateField(allow_null=True)
    earliest = serializers.DateField(allow_null=True)
    latest = serializers.DateField(allow_null=True, help_text="null: nobody can say")
    why_not = serializers.CharField()


class WorkerSerializer(serializers.Serializer[Any]):
    person = serializers.CharField(source="name")
    role = serializers.CharField()
    counts = serializers.DictField(child=serializers.IntegerField())


class ThroughputSerializer(serializers.Serializer[Any]):
    """What was done in the last days, today included, by kind of work."""

    days = serializers.ListField(child=serializers.DateField())
    by_day = serializers.DictField(child=serializers.ListField(child=serializers.IntegerField()))
    people = WorkerSerializer(many=True)


class EffortSerializer(serializers.Serializer[Any]):
    step = serializers.CharField()
    bucket = serializers.CharField()
    samples = serializers.IntegerField()
    seconds = serializers.FloatField()
    seconds_per_sample = serializers.FloatField()


class RatesSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(source="label")
    audited = serializers.IntegerField()
    rejected = serializers.IntegerField()
    decided = serializers.IntegerField(help_text="review cases that were accepted or adjudicated")
    reconstructed = serializers.IntegerField()


class OutcomesSerializer(serializers.Serializer[Any]):
    by_person = RatesSerializer(many=True)
    by_model = RatesSerializer(many=True)
    by_task = RatesSerializer(many=True)


class ChosenSerializer(serializers.Serializer[Any]):
    model = serializers.CharField(source="name")
    simulated = serializers.BooleanField()
    candidates = serializers.IntegerField()
    discarded = serializers.IntegerField()
    passed = serializers.IntegerField()
    chosen = serializers.IntegerField()
    in_accepted_samples = serializers.IntegerField(source="accepted")


@extend_schema_serializer(many=False)
class ProgressSerializer(serializers.Serializer[Any]):
    stages = StageSerializer(many=True)
    cells = CellSerializer(many=True)
    in_no_cell = serializers.IntegerField(help_text="samples whose document is in no bucket of the benchmark now")
    without_difficulty = serializers.IntegerField(help_text="accepted samples that wait for their label")
    cost = CostSerializer()
    forecast = ForecastSerializer()
    throughput = ThroughputSerializer()
    active_time = EffortSerializer(many=True)
    outcomes = OutcomesSerializer()
    chosen = ChosenSerializer(many=True)


# Plan --------------------------------------------------------------------------------------------------------------


@extend_schema_serializer(many=False)
class PlanCellsSerializer(serializers.Serializer[Any]):
    cells = CellSerializer(many=True, help_text="the shortest first")
    in_no_cell = serializers.IntegerField()


class PairSerializer(serializers.Serializer[Any]):
    document = serializers.IntegerField(min_value=1)
    secondary_task = serializers.CharField(help_text="code or exact English name")


class ProposalSerializer(serializers.Serializer[Any]):
    """A document for a cell. `uses`: samples that it carries, with those proposed before."""

    document = serializers.IntegerField(source="source.pk")
    secondary_task = serializers.CharField(source="cell.task.name")
    language = serializers.CharField(source="cell.language")
    bucket = serializers.CharField(source="cell.bucket")
    title = serializers.CharField(source="source.title")
    domain = serializers.CharField(source="source.domain")
    format = serializers.CharField(source="source.format")
    tokens = serializers.IntegerField(source="source.tokens")
    uses = serializers.IntegerField()
    tried_before = serializers.BooleanField(source="tried", help_text="the pair was exhausted before")


class ShortageSerializer(serializers.Serializer[Any]):
    language = serializers.CharField()
    bucket = serializers.CharField()
    samples = serializers.IntegerField(source="lacking", help_text="for which no document is left")
    cells = serializers.IntegerField()
    approved_documents = serializers.IntegerField(source="documents")


class ProposedSerializer(serializers.Serializer[Any]):
    to_plan = serializers.IntegerField(source="unplanned", help_text="in the cells that were asked for")
    proposals = ProposalSerializer(many=True)
    shortages = ShortageSerializer(many=True)


class MakeBody(serializers.Serializer[Any]):
    pairs = PairSerializer(many=True, help_text="at most 200, as proposed or chosen otherwise")


class NotMadeSerializer(serializers.Serializer[Any]):
    document = serializers.IntegerField(source="pair.document")
    secondary_task = serializers.CharField(source="pair.task_code")
    rule = serializers.CharField()
    why = serializers.CharField()


class MadeSerializer(serializers.Serializer[Any]):
    samples = serializers.ListField(child=serializers.IntegerField(), help_text="numbers of the new samples")
    left_out = NotMadeSerializer(many=True)


class CellTargetBody(serializers.Serializer[Any]):
    """Left out, task, language or bucket stand for all. `target` null: the general figure holds again."""

    secondary_task = serializers.CharField(required=False, default="", help_text="code or exact English name")
    language = serializers.CharField(required=False, default="")
    bucket = serializers.CharField(required=False, default="")
    target = serializers.IntegerField(allow_null=True, min_value=0)


class TargetsSetSerializer(serializers.Serializer[Any]):
    changed = serializers.IntegerField()


class TrailLineSerializer(serializers.ModelSerializer[Event]):
    """One line of the audit trail."""

    by = serializers.CharField(
        source="by.username", default=None, read_only=True, allow_null=True, help_text="null: the system"
    )

    class Meta:
        model = Event
        fields = ["id", "at", "by", "action", "subject_type", "subject_id", "from_state", "to_state", "reason", "data"]
        read_only_fields = fields


class GuidelinesBody(serializers.Serializer[Any]):
    """Only the texts that change; an empty one reads again as the system began with it."""

    texts = serializers.DictField(
        child=serializers.DictField(child=serializers.CharField(allow_blank=True)),
        help_text="{key: {language: text}}, languages en and zh-hans",
    )
    note = serializers.CharField(help_text="what is changed, and why")
    based_on = serializers.IntegerField(min_value=0, help_text="number of the version that you saw; 0: the beginning")


@extend_schema_serializer(many=False)
class GuidelinesSerializer(serializers.Serializer[Any]):
    version = serializers.CharField(help_text="the name that verdicts keep")
    number = serializers.IntegerField(help_text="0: nothing was changed yet")
    read = serializers.IntegerField(help_text="number of the version that you have read")
    texts = serializers.DictField(
        child=serializers.DictField(child=serializers.CharField(allow_blank=True)), help_text="{key: {language: text}}"
    )


MOST = 1_000_000


class FiguresBody(serializers.Serializer[Any]):
    """Only what is given changes."""

    tolerance_percent = serializers.IntegerField(required=False, min_value=1, max_value=49)
    samples_per_cell = serializers.IntegerField(required=False, min_value=1, max_value=MOST)
    difficulty_runs = serializers.ChoiceField(required=False, choices=[1, 3, 5, 7, 9])
    claim_idle_minutes = serializers.IntegerField(required=False, min_value=1, max_value=MOST)
    claims_per_person = serializers.IntegerField(required=False, min_value=1, max_value=MOST)


@extend_schema_serializer(many=False)
class FiguresSerializer(serializers.ModelSerializer[BenchmarkSettings]):
    targets = serializers.ListField(child=serializers.IntegerField(), read_only=True)

    class Meta:
        model = BenchmarkSettings
        fields = [
            "targets",
            "unit",
            "tolerance_percent",
            "samples_per_cell",
            "difficulty_runs",
            "claim_idle_minutes",
            "claims_per_person",
        ]
        read_only_fields = fields
