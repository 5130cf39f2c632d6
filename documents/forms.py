"""What people type on the pages of documents. Forms clean, actions decide."""

import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from documents.actions import BULK, MAX_NOTE, Facts, Seen, too_many
from documents.decoding import ENCODINGS
from documents.models import LANGUAGE_CHOICES, Document
from documents.workflow import Flag, VersionState


class SeveralFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    widget = SeveralFiles

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
            "Text, Markdown, HTML, PDF, DOCX, EPUB, source code, CSV, JSON, JSONL; or a zip or tar.gz of these."
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
        if len(files) > settings.DATA_UPLOAD_MAX_NUMBER_FILES:
            self.add_error("uploads", too_many(len(files)))
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
    """What is kept: from `start` up to `end` (code points), or up to a number of tokens or a bucket's target."""

    start = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)
    end = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)
    tokens = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)
    bucket = forms.CharField(required=False, widget=forms.HiddenInput)
    based_on = forms.IntegerField(required=False, widget=forms.HiddenInput)
    reason = forms.CharField(label=gettext_lazy("Reason"), required=False, max_length=1000)

    @property
    def values(self) -> dict[str, Any]:
        return {**self.cleaned_data, "start": self.cleaned_data["start"] or 0}


class SpanField(forms.Field):
    """The spans of the chosen parts, each written as start-end."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: Any) -> list[tuple[int, int]]:
        spans = []
        for written in value or []:
            match = re.fullmatch(r"([0-9]{1,9})-([0-9]{1,9})", str(written))
            if not match:
                raise forms.ValidationError(_("A part is written as start-end."))
            spans.append((int(match[1]), int(match[2])))
        return spans


class CutForm(forms.Form):
    spans = SpanField(error_messages={"required": gettext_lazy("Choose at least one part.")})
    based_on = forms.IntegerField(required=False, widget=forms.HiddenInput)
    reason = forms.CharField(label=gettext_lazy("Reason"), required=False, max_length=1000)


class JoinForm(forms.Form):
    title = forms.CharField(label=gettext_lazy("Title of the whole"), max_length=300)
    reason = forms.CharField(label=gettext_lazy("Reason"), required=False, max_length=1000)


class BulkCorrectionForm(forms.Form):
    """One fact a line, each with a tick: what is not ticked stays as it is, what is ticked and empty is emptied."""

    domain = forms.CharField(label=gettext_lazy("Domain"), required=False, max_length=60)
    format = forms.CharField(label=gettext_lazy("Format"), required=False, max_length=60)
    licence = forms.CharField(label=gettext_lazy("Licence"), required=False, max_length=300)
    source_url = forms.CharField(label=gettext_lazy("Source address"), required=False, max_length=2000)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in BULK:
            self.fields[f"set_{name}"] = forms.BooleanField(required=False)
        self.fields["domain"].widget.attrs["list"] = "domains"
        self.fields["format"].widget.attrs["list"] = "formats"

    @property
    def lines(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        return [(self[f"set_{name}"], self[name]) for name in BULK]

    @property
    def facts(self) -> dict[str, str]:
        return {name: self.cleaned_data[name] for name in BULK if self.cleaned_data[f"set_{name}"]}


class RevisionForm(forms.Form):
    based_on = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.CharField(label=gettext_lazy("Why the text changes"), max_length=1000)
    text = TextField(label=gettext_lazy("Text"), strip=False, widget=forms.Textarea(attrs={"rows": 30}))
