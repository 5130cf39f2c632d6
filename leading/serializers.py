"""What the API says about people and progress."""

from typing import Any

from rest_framework import serializers

from core.models import User
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

    name = serializers.CharField(max_length=150)
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


class CostsSerializer(serializers.Serializer[Any]):
    by = serializers.CharField()
    total = CostRowSerializer(help_text="over all calls, each counted once however many runs read it")
    test_calls = TrialCostsSerializer(help_text="paid too, in none of the rows")
    rows = CostRowSerializer(many=True)


class ProgressSerializer(serializers.Serializer[Any]):
    stages = StageSerializer(many=True)
    cells = CellSerializer(many=True)
    cost = CostSerializer()
