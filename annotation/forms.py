"""What people fill in on the pages of stages 2b and 3. Forms clean; the actions decide."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from annotation.models import Candidate
from annotation.workflow import SampleState
from benchmark.taxonomy import SECONDARY_TASKS, Language
from core.models import User
from documents.models import Document
from documents.workflow import VersionState


def page_language() -> Language:
    return Language.CHINESE if (translation.get_language() or "").startswith("zh") else Language.ENGLISH


def task_choices() -> list[tuple[str, str]]:
    """The tasks by their names in the reader's language; codes as values."""
    language = page_language()
    return [(task.code, task.name_in(language)) for task in SECONDARY_TASKS]


class Lines(forms.CharField):
    """A text area, one item a line; empty lines at the ends are dropped, others are the action's to judge."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value) or ""
        return [line.strip() for line in text.splitlines() if line.strip()]

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value


class DocumentChoice(forms.ModelChoiceField):
    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.title} · {obj.get_language_display()} · {obj.latest.bucket}"


def documents_ready() -> QuerySet[Document]:
    """Documents whose newest version is approved and bucketed."""
    ready = Document.objects.filter(latest__state=VersionState.APPROVED).exclude(latest__bucket="")
    return ready.select_related("latest").order_by("title", "pk")


class SampleForm(forms.Form):
    document = DocumentChoice(queryset=Document.objects.none(), label=_("Document"))
    secondary_task = forms.ChoiceField(choices=task_choices, label=_("Secondary task"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = self.fields["document"]
        assert isinstance(chosen, DocumentChoice)
        chosen.queryset = documents_ready()


class DraftManyForm(forms.Form):
    run_budget_usd = forms.DecimalField(
        label=_("Budget of each run, US $"),
        min_value=0,
        max_digits=14,
        decimal_places=4,
        required=False,
        help_text=_("Empty: no limit. A run has one call or more to each model."),
    )


class PersonChoice(forms.ModelChoiceField):
    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.name} · {obj.get_role_display()}"


class TakeOverForm(forms.Form):
    """`people`: to whom the sample can be handed."""

    holder = PersonChoice(queryset=User.objects.none(), label=_("Hand to"))
    reason = forms.CharField(label=_("Reason"))

    def __init__(self, *args: Any, people: QuerySet[User], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = self.fields["holder"]
        assert isinstance(chosen, PersonChoice)
        chosen.queryset = people


# The desk ------------------------------------------------------------------------------------------------------


class QuestionForm(forms.Form):
    """Lengths are not limited here; the action says what is missing. With the script a list has a field for each line
    (static/js/desk-edit.js); without it the lines can be pasted, ordered and removed as text."""

    question = forms.CharField(
        label=_("Question"), required=False, strip=False, widget=forms.Textarea(attrs={"rows": 3, "autofocus": True})
    )
    options = Lines(
        label=_("Options, one a line"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "data-list": "options"}),
    )


class AnswerForm(forms.Form):
    answer = Lines(
        label=_("Answer elements, one a line"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "autofocus": True, "class": "mono", "data-list": "answer"}),
    )
    elements = forms.CharField(label=_("What to output"), required=False)


EDITS: dict[str, type[forms.Form]] = {"question": QuestionForm, "answer": AnswerForm}


def edit_form(part: str, candidate: Candidate) -> forms.Form:
    return EDITS[part](
        initial={
            "question": candidate.question,
            "elements": candidate.elements,
            "options": candidate.options,
            "answer": candidate.answer,
        }
    )


class SubmitForm(forms.Form):
    note = forms.CharField(
        label=_("Note to the expert"), required=False, widget=forms.Textarea(attrs={"rows": 2, "data-kept": True})
    )


class FeedbackForm(forms.Form):
    feedback = forms.CharField(label=_("Feedback"), required=False, widget=forms.Textarea(attrs={"rows": 3}))


def _part(rows: int, key: str, **more: str) -> forms.Textarea:
    return forms.Textarea(
        attrs={"rows": rows, "aria-keyshortcuts": key, "data-part": key, "spellcheck": "false", **more}
    )


class PartsForm(forms.Form):
    """The four parts of a standardized question. Empty ones can be saved; completing finds them. White space is not
    taken off here: the checks name it."""

    task_description = forms.CharField(required=False, strip=False, widget=_part(4, "1"))
    elements = forms.CharField(
        required=False,
        strip=False,
        widget=forms.TextInput(
            attrs={"aria-keyshortcuts": "2", "data-part": "2", "spellcheck": "false", "autocomplete": "off"}
        ),
    )
    supplementary = forms.CharField(required=False, strip=False, widget=_part(3, "3"))
    example = Lines(required=False, widget=_part(3, "4", **{"class": "mono"}))


STATE_CHOICES = SampleState.choices
