"""Forms of a person's own settings."""

import zoneinfo

from django import forms
from django.utils.translation import gettext_lazy as _

from core.models import ApiToken, User
from core.text import clean_text
from core.workflow import Scope, Theme

PARTS_OF_THE_WORLD = (
    *("Africa/", "America/", "Antarctica/", "Asia/", "Atlantic/"),
    *("Australia/", "Europe/", "Indian/", "Pacific/"),
)


def time_zones() -> list[tuple[str, str]]:
    """Names of places, without the historical and technical aliases."""
    names = sorted(name for name in zoneinfo.available_timezones() if name.startswith(PARTS_OF_THE_WORLD))
    return [(name, name.replace("_", " ")) for name in ["UTC", *names]]


# Each language by its own name, so that nobody has to read the other to leave it.
LANGUAGES = (("", _("as the browser")), ("en", "English"), ("zh-hans", "简体中文"))


class PreferencesForm(forms.ModelForm):
    language = forms.ChoiceField(
        label=_("Language"),
        choices=LANGUAGES,
        widget=forms.Select(attrs={"translate": "no"}),
        required=False,
        help_text=_("Of the pages. Documents and samples stay in their own language."),
    )
    theme = forms.ChoiceField(label=_("Theme"), choices=Theme.choices, required=False, widget=forms.RadioSelect)
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        choices=time_zones,
        help_text=_("Times are shown in it."),
        widget=forms.Select(attrs={"translate": "no"}),
    )

    class Meta:
        model = User
        fields = ["language", "theme", "time_zone", "shortcuts"]
        labels = {"shortcuts": _("Single-key shortcuts")}
        help_texts = {
            "shortcuts": _("One letter without Ctrl or Alt; never while you type."),
        }


class ApiTokenForm(forms.ModelForm):
    scope = forms.ChoiceField(label=_("Scope"), choices=Scope.choices, initial=Scope.READ, widget=forms.RadioSelect)
    days = forms.IntegerField(
        label=_("Valid for days"), min_value=1, max_value=366, initial=90, help_text=_("At most 366.")
    )

    class Meta:
        model = ApiToken
        fields = ["name", "scope"]
        labels = {"name": _("Name")}
        help_texts = {"name": _("What the token is for.")}

    def clean_name(self) -> str:
        return clean_text(self.cleaned_data["name"])
