"""Forms clean, actions decide."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.filters import ANY
from annotation.forms import task_choices
from core.models import BenchmarkSettings
from core.workflow import Role
from documents.models import LANGUAGE_CHOICES
from leading.actions import MOST_PER_CELL
from leading.inviting import MOST_DAYS
from leading.planning import AT_MOST


class PersonForm(forms.Form):
    name = forms.CharField(label=_("User name"), max_length=150, help_text=_("To sign in with; no spaces."))
    full_name = forms.CharField(label=_("Full name"), max_length=150, required=False)
    email = forms.EmailField(label=_("E-mail"), required=False)
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)


class InvitationForm(forms.Form):
    """Nothing ticked: everything."""

    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)
    email = forms.EmailField(
        label=_("E-mail"), required=False, help_text=_("With one the link is sent there too; without, you pass it on.")
    )
    days = forms.IntegerField(label=_("Valid for days"), min_value=1, max_value=MOST_DAYS, initial=14)
    languages = forms.MultipleChoiceField(
        label=_("Languages"), choices=LANGUAGE_CHOICES, required=False, widget=forms.CheckboxSelectMultiple
    )
    tasks = forms.MultipleChoiceField(
        label=_("Secondary tasks"), choices=task_choices, required=False, widget=forms.CheckboxSelectMultiple
    )


PASSWORD = forms.PasswordInput(attrs={"autocomplete": "new-password"})


class NewPasswordForm(forms.Form):
    password = forms.CharField(
        label=_("Password"), max_length=200, strip=False, widget=PASSWORD, help_text=_("At least 12 characters.")
    )
    again = forms.CharField(label=_("The password again"), max_length=200, strip=False, widget=PASSWORD)

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("password") and given.get("again") and given["password"] != given["again"]:
            self.add_error("again", _("The two passwords differ."))
        return given


class OwnAccountForm(NewPasswordForm):
    """What an invited person chooses."""

    name = forms.CharField(
        label=_("User name"),
        max_length=150,
        help_text=_("To sign in with; no spaces."),
        widget=forms.TextInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    full_name = forms.CharField(
        label=_("Full name"), max_length=150, required=False, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    field_order = ("name", "full_name", "password", "again")


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)


class WorkForm(forms.Form):
    """Nothing ticked: everything."""

    languages = forms.MultipleChoiceField(
        label=_("Languages"), choices=LANGUAGE_CHOICES, required=False, widget=forms.CheckboxSelectMultiple
    )
    tasks = forms.MultipleChoiceField(
        label=_("Secondary tasks"), choices=task_choices, required=False, widget=forms.CheckboxSelectMultiple
    )


class FiguresForm(forms.Form):
    samples_per_cell = forms.IntegerField(label=_("Samples per cell"), min_value=1, max_value=1000)
    tolerance_percent = forms.IntegerField(
        label=_("Length tolerance, per cent"),
        min_value=1,
        max_value=49,
        help_text=_("Documents are sorted into buckets anew; existing samples stay as they are and are listed."),
    )
    difficulty_runs = forms.IntegerField(
        label=_("Difficulty runs per model"), min_value=1, max_value=9, help_text=_("Odd; the majority counts.")
    )
    claim_idle_minutes = forms.IntegerField(
        label=_("A claim lapses after, minutes"), min_value=5, max_value=60 * 24 * 14
    )
    claims_per_person = forms.IntegerField(label=_("Open claims per person"), min_value=1, max_value=1000)


def _any(choices: Any) -> Any:
    return lambda: [("", ANY), *(choices() if callable(choices) else choices)]


def bucket_choices() -> list[tuple[str, str]]:
    return [(bucket, bucket) for bucket in BenchmarkSettings.load().lengths.names()]


class WishForm(forms.Form):
    """What to make next. Bound to the address: nothing said is the usual."""

    count = forms.IntegerField(label=_("Samples"), min_value=1, max_value=AT_MOST, required=False)
    language = forms.ChoiceField(label=_("Language"), choices=_any(LANGUAGE_CHOICES), required=False)
    bucket = forms.ChoiceField(label=_("Bucket"), choices=_any(bucket_choices), required=False)
    secondary_task = forms.ChoiceField(label=_("Secondary task"), choices=_any(task_choices), required=False)


class DueForm(forms.Form):
    by = forms.DateField(label=_("Full by"), required=False, widget=forms.DateInput(attrs={"type": "date"}))


class TargetsForm(forms.Form):
    """One target for all cells of a kind, or the general figure again: a field left empty by mistake changes none."""

    language = forms.ChoiceField(label=_("Language"), choices=_any(LANGUAGE_CHOICES), required=False)
    bucket = forms.ChoiceField(label=_("Bucket"), choices=_any(bucket_choices), required=False)
    secondary_task = forms.ChoiceField(label=_("Secondary task"), choices=_any(task_choices), required=False)
    target = forms.IntegerField(label=_("Target"), min_value=0, max_value=MOST_PER_CELL, required=False)
    general = forms.BooleanField(label=_("The general figure again"), required=False)

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or {}
        if "target" in said and (said["target"] is None) != bool(said.get("general")):
            self.add_error("target", _("Say a target, or tick the general figure."))
        return said
