"""What the API says about people and progress."""

from typing import Any

from django.contrib.auth.validators import UnicodeUsernameValidator
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from core.models import BenchmarkSettings, Event, User
from core.workflow import Role


class PersonSerializer(serializers.ModelSerializer[User]):
    class Meta:
        model = User
        fields = ["id", "username", "name", "role", "languages", "tasks", "is_active", "date_joined", "last_login"]

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


class CellSerializer(serializers.Serializer[Any]):
    secondary_task = serializers.CharField(source="task.name")
    language = serializers.CharField()
    bucket = serializers.CharField()
    target = serializers.IntegerField()
    accepted = serializers.IntegerField(source="done")
    under_way = serializers.IntegerField()


class CostSerializer(serializers.Serializer[Any]):
    usd = serializers.DecimalField(max_digits=16, decimal_places=8)
    calls = serializers.IntegerField()
    unknown = serializers.IntegerField(help_text="calls whose cost nobody knows, not in the sum")


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


@extend_schema_serializer(many=False)
class ProgressSerializer(serializers.Serializer[Any]):
    stages = StageSerializer(many=True)
    cells = CellSerializer(many=True)
    cost = CostSerializer()


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
