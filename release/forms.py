"""What is typed on the pages of releases."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmark.difficulty import FEW, Tier
from release.ladder import Rule

# Of five models, how many may count as almost none.
MOST = 4


class ReleaseForm(forms.Form):
    version = forms.CharField(label=_("Version"), max_length=40, help_text=_("Such as 1.0; it cannot be used again."))
    allow_incomplete = forms.BooleanField(
        label=_("Allow incomplete: some cells may hold fewer samples than their target"), required=False
    )


class WithdrawForm(forms.Form):
    reason = forms.CharField(
        label=_("Why this release should no longer be used"), widget=forms.Textarea(attrs={"rows": 3})
    )


class LadderForm(forms.Form):
    """A ladder and a panel on trial; what is not given is the rule's."""

    high = forms.IntegerField(label=_("Extreme: high-tier models right, at most"), min_value=0, max_value=MOST)
    mid = forms.IntegerField(label=_("Hard: mid-tier models right, at most"), min_value=0, max_value=MOST)
    low = forms.IntegerField(label=_("Moderate: low-tier models right, at most"), min_value=0, max_value=MOST)
    without = forms.MultipleChoiceField(label=_("Leave out"), required=False)

    def __init__(self, given: Any, *, models: list[str]) -> None:
        """`models`: the names of those that may be left out."""
        data = given.copy()
        for tier in Tier:
            data.setdefault(tier.value, str(FEW))
        super().__init__(data)
        field = self.fields["without"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [(name, name) for name in models]

    @property
    def rule(self) -> Rule:
        """The rule on trial; the rule itself while something in the form is wrong."""
        if not self.is_valid():
            return Rule()
        few = {tier: self.cleaned_data[tier.value] for tier in Tier}
        return Rule(few, frozenset(self.cleaned_data["without"]))
