"""What people type on the pages of documents. Forms clean, actions decide."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.models import BenchmarkSettings
from documents.actions import MAX_NOTE, Facts, Seen
from documents.decoding import ENCODINGS
from documents.models import LANGUAGE_CHOICES, Document
from documents.workflow import Flag, VersionState

MAX_FILES = 100


class SeveralFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    widget = SeveralFiles(attrs={"data-limit": MAX_FILES})

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        files: Sequence[Any] = data if isinstance(data, list | tuple) else [data]
        return [file for file in files if file is not None]


class TextField(forms.CharField):
    """A long text as it was typed. Browsers send every line end as CRLF; that is no change worth counting."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


class FactsForm(forms.Form):
    """The facts that are recorded beside a text."""

    language = forms.ChoiceField(
        label=gettext_lazy("Language"),
        required=False,
        choices=[("", gettext_lazy("found from the script")), *LANGUAGE_CHOICES],
    )
    domain = forms.CharField(label=gettext_lazy("Domain"), required=False, max_length=60)
    format = forms.CharField(label=gettext_lazy("Format"), required=False, max_length=60)
    licence = forms.CharField(label=gettext_lazy("Licence"), required=False, max_length=300)
    source_url = forms.CharField(label=gettext_lazy("Source address"), required=False, max_length=2000)
    multi = forms.BooleanField(label=gettext_lazy("several documents in one"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["domain"].widget.attrs["list"] = "domains"
        self.fields["format"].widget.attrs["list"] = "formats"


class ImportForm(FactsForm):
    uploads = FilesField(
        label=gettext_lazy("Files"),
        required=False,
        help_text=gettext_lazy(
            "Text, Markdown, source code, CSV, JSON, JSONL; or a zip or tar.gz of these. Up to 100 at once."
        ),
    )
    encoding = forms.ChoiceField(
        label=gettext_lazy("Encoding of the files"),
        required=False,
        choices=[("", gettext_lazy("find it: mark, UTF-8, GB18030")), *ENCODINGS.items()],
    )
    title = forms.CharField(
        label=gettext_lazy("Title"),
        required=False,
        max_length=300,
        help_text=gettext_lazy("Left out: the file's name."),
    )
    text = TextField(
        label=gettext_lazy("Or paste a text"), required=False, strip=False, widget=forms.Textarea(attrs={"rows": 10})
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        files = cleaned.get("uploads") or []
        if len(files) > MAX_FILES:
            self.add_error(
                "uploads",
                _(
                    "%(n)s files at once are too many: at most %(limit)s. Put them into one zip or tar.gz, "
                    "or use the command import_documents."
                )
                % {"n": len(files), "limit": MAX_FILES},
            )
        if not files and not cleaned.get("text", "").strip():
            self.add_error("uploads", _("Choose files, or paste a text below."))
        return cleaned

    @property
    def facts(self) -> Facts:
        names = ("title", "language", "domain", "format", "multi", "licence", "source_url")
        return Facts(**{name: self.cleaned_data[name] for name in names})


class CorrectionForm(FactsForm):
    title = forms.CharField(label=gettext_lazy("Title"), max_length=300)
    language = forms.ChoiceField(label=gettext_lazy("Language"), choices=LANGUAGE_CHOICES)
    version = forms.IntegerField(widget=forms.HiddenInput)

    field_order = ["title", "language", "domain", "format", "licence", "source_url", "multi"]

    @classmethod
    def of(cls, document: Document) -> "CorrectionForm":
        return cls(initial={name: getattr(document, name) for name in cls.base_fields})


class DecisionForm(forms.Form):
    """`seen_...` is what the page showed: the template writes it anew each time, never what came back."""

    flags = forms.MultipleChoiceField(choices=Flag.choices, required=False, widget=forms.CheckboxSelectMultiple)
    note = forms.CharField(required=False, max_length=MAX_NOTE, widget=forms.Textarea(attrs={"rows": 2}))
    seen_state = forms.ChoiceField(choices=VersionState.choices, required=False, widget=forms.HiddenInput)
    seen_sha256 = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)
    seen_latest = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)

    @property
    def seen(self) -> Seen | None:
        """None when nothing was said: a decision sent by a program."""
        state, sha256, latest = (self.cleaned_data[f"seen_{name}"] for name in ("state", "sha256", "latest"))
        return Seen(state, sha256, latest) if state and latest else None


class NamesForm(forms.Form):
    names = TextField(
        label=gettext_lazy("Names, one in a line"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "false", "translate": "no"}),
    )
    based_on = forms.IntegerField(widget=forms.HiddenInput)


class TrimForm(forms.Form):
    bucket = forms.ChoiceField(label=gettext_lazy("To the target of"), required=False)
    tokens = forms.IntegerField(label=gettext_lazy("or to at most so many tokens"), required=False, min_value=1)
    reason = forms.CharField(label=gettext_lazy("Reason"), required=False, max_length=1000)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = BenchmarkSettings.load().lengths.names()
        self.fields["bucket"].choices = [("", "–"), *((name, name) for name in names)]  # type: ignore[attr-defined]


class RevisionForm(forms.Form):
    based_on = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.CharField(label=gettext_lazy("Why the text changes"), max_length=1000)
    text = TextField(label=gettext_lazy("Text"), strip=False, widget=forms.Textarea(attrs={"rows": 30}))
