"""What leads type about models, money and calls. The forms read; the actions decide."""

from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import TextChoices
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from core.text import clean_text
from generation.actions import EDITABLE
from generation.models import LanguageModel, ProviderLimit

LIMITS = ("calls_in_flight", "requests_per_minute", "tokens_per_minute")
PRICES = ("usd_per_million_input", "usd_per_million_output", "usd_per_million_cached")
LABELS = {
    "max_output_nonthinking": _("Output limit without thinking, tokens"),
    "max_output_thinking": _("Output limit with thinking, tokens"),
    "temperature": _("Temperature"),
    "structured": _("Structured output"),
    "usd_per_million_input": _("US $ per million tokens in"),
    "usd_per_million_output": _("US $ per million tokens out"),
    "usd_per_million_cached": _("US $ per million tokens read from the cache"),
    "price_read_on": _("Price read on"),
    "note": _("Note"),
}
HELP = {
    "litellm_id": _("Provider and model, such as openai/gpt-5; any server with OpenAI's interface: openai/NAME."),
    "api_base": _("Empty: the provider's own. The operator lists the hosts that may be named here."),
    "key_variable": _("The name of the variable in the worker's environment, never the key itself."),
    "temperature": _("Empty: not sent."),
    "max_output_nonthinking": _("Empty: not sent."),
    "max_output_thinking": _("Empty: not sent."),
    "structured": _("How drafts are held to JSON; every reply is checked by us all the same."),
    "usd_per_million_input": _("Without a price no run with this model starts."),
    "usd_per_million_cached": _("Empty: as the others."),
}


class ModelForm(forms.ModelForm):
    version = forms.IntegerField(widget=forms.HiddenInput)

    class Meta:
        model = LanguageModel
        fields = list(EDITABLE)
        labels = LABELS
        help_texts = HELP
        widgets = {"price_read_on": forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})}

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["version"].initial = self.instance.version
        for name in PRICES:
            price = self.initial.get(name)
            self.initial[name] = None if price is None else f"{Decimal(price).normalize():f}"

    def changes(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in EDITABLE}

    def _post_clean(self) -> None:
        """The form only reads: the instance stays as it is in the database, the action checks and changes it."""


class NewModelForm(ModelForm):
    class Meta(ModelForm.Meta):
        fields = ["name", *EDITABLE]

    def clean_name(self) -> str:
        return clean_text(str(self.cleaned_data["name"])).strip()


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"),
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Kept in the history."),
    )

    def clean_reason(self) -> str:
        return clean_text(str(self.cleaned_data["reason"])).strip()


class ResendForm(ReasonForm):
    """For one call, of which everything is known."""

    @property
    def billed_usd(self) -> Decimal | None:
        return None


class Billed(TextChoices):
    """What a lead found in the provider's own log of a call that came back without an answer."""

    OPEN = "open", _("nobody knows yet: it stays held back")
    NO = "no", _("it was not billed")
    YES = "yes", _("it was billed")


class DecideForm(ReasonForm):
    """For one call that may have been billed: what is known of that, then whether it is sent again."""

    billed = forms.ChoiceField(
        label=_("Was it billed?"), choices=Billed.choices, widget=forms.RadioSelect, initial=Billed.OPEN, required=False
    )
    amount_usd = forms.DecimalField(
        label=_("Amount, US $"),
        min_value=0,
        max_digits=14,
        decimal_places=8,
        required=False,
        help_text=_("Only where it was billed: all attempts so far together."),
    )

    field_order = ["billed", "amount_usd", "reason"]

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        billed, amount = given.get("billed"), given.get("amount_usd")
        if billed == Billed.YES and not amount and "amount_usd" not in self.errors:
            self.add_error("amount_usd", _("Give the amount that was billed."))
        if billed != Billed.YES and amount:
            self.add_error("billed", _("An amount is given: say that it was billed."))
        return given

    @property
    def billed_usd(self) -> Decimal | None:
        """None: nobody knows."""
        billed = self.cleaned_data.get("billed") or Billed.OPEN
        if billed == Billed.OPEN:
            return None
        return self.cleaned_data["amount_usd"] if billed == Billed.YES else Decimal(0)


class AgainForm(ReasonForm):
    """The lead's word on many calls. `confirmed` is the number that was shown: more than that is shown anew."""

    confirmed = forms.IntegerField(widget=forms.HiddenInput)
    none_was_billed = forms.BooleanField(
        label=_("I have looked: none of those that may have been billed was. What they hold back is released."),
        required=False,
    )

    def __init__(self, *args: Any, count: int, unknown: int, **more: Any) -> None:
        super().__init__(*args, **more)
        self.count = count
        self.fields["reason"].required = unknown > 0

    def clean_confirmed(self) -> int:
        seen: int = self.cleaned_data["confirmed"]
        if self.count > seen:
            raise ValidationError(_now("Meanwhile there are more calls than you saw. Look again, then confirm."))
        return seen


class PauseForm(forms.Form):
    reason = forms.CharField(label=_("Reason"), max_length=300, required=False)

    def clean_reason(self) -> str:
        return clean_text(str(self.cleaned_data["reason"])).strip()


class BudgetForm(forms.Form):
    """Empty: no limit."""

    budget_usd = forms.DecimalField(
        label=_("Budget, US $"),
        min_value=0,
        max_digits=14,
        decimal_places=4,
        required=False,
        help_text=_("Empty: no limit."),
    )
    version = forms.IntegerField(widget=forms.HiddenInput, required=False)


class LimitForm(forms.ModelForm):
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0)

    class Meta:
        model = ProviderLimit
        fields = ["provider", *LIMITS]
        widgets = {"provider": forms.HiddenInput}

    def _post_clean(self) -> None:
        """Only reads, as above."""
