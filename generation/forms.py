"""What leads type about models and calls. The forms read; the actions decide."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from core.text import clean_text
from generation.actions import EDITABLE
from generation.models import LanguageModel


class ModelForm(forms.ModelForm):
    version = forms.IntegerField(widget=forms.HiddenInput)

    class Meta:
        model = LanguageModel
        fields = list(EDITABLE)
        labels = {
            "max_output_nonthinking": _("Output limit without thinking, tokens"),
            "max_output_thinking": _("Output limit with thinking, tokens"),
            "temperature": _("Temperature"),
            "usd_per_million_input": _("US $ per million tokens in"),
            "usd_per_million_output": _("US $ per million tokens out"),
            "price_read_on": _("Price read on"),
            "note": _("Note"),
        }
        help_texts = {
            "litellm_id": _(
                "Provider and model, such as openai/gpt-5; any server with OpenAI's interface: openai/NAME."
            ),
            "api_base": _("Empty: the provider's own. The operator lists the hosts that may be named here."),
            "key_variable": _("The name of the variable in the worker's environment, never the key itself."),
            "temperature": _("Empty: not sent."),
            "max_output_nonthinking": _("Empty: not sent."),
            "max_output_thinking": _("Empty: not sent."),
            "usd_per_million_input": _("Without a price no run with this model starts."),
        }
        widgets = {"price_read_on": forms.DateInput(attrs={"type": "date"})}

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["version"].initial = self.instance.version

    def changes(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in EDITABLE}

    def _post_clean(self) -> None:
        """The form only reads: the instance stays as it is in the database, the action checks and changes it."""


class ResendForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"),
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Kept in the history."),
    )

    def clean_reason(self) -> str:
        return clean_text(str(self.cleaned_data["reason"])).strip()
