"""What would be sent for a document and a task, before it is sent."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from benchmark.taxonomy import secondary_task
from documents.models import DocumentVersion
from documents.workflow import VersionState
from generation import overview
from generation.filters import task_choices
from generation.previewing import preview_drafting
from generation.views.common import lead_of, page_language


class PairForm(forms.Form):
    version = forms.ModelChoiceField(
        queryset=DocumentVersion.objects.select_related("document"),
        widget=forms.HiddenInput,
        required=False,
    )
    document = forms.IntegerField(label=_("Document, its number"), required=False, min_value=1)
    secondary_task = forms.ChoiceField(label=_("Secondary task"), choices=task_choices)

    def clean(self) -> dict[str, object]:
        given = self.cleaned_data
        if given.get("version") is None and given.get("document"):
            latest = DocumentVersion.objects.filter(document=given["document"]).select_related("document")
            given["version"] = latest.order_by("-number").first()
        if given.get("version") is None and not self.errors:
            self.add_error("document", _("There is no document of this number."))
        return given


@require_GET
def run_preview(request: HttpRequest) -> HttpResponse:
    lead_of(request)
    form = PairForm(request.GET or None)
    context = {"section": "runs", "form": form, "preview": None, "purse": overview.purse()}
    if form.is_valid():
        version, task = form.cleaned_data["version"], secondary_task(form.cleaned_data["secondary_task"])
        context |= {
            "preview": preview_drafting(version, task),
            "version": version,
            "approved": version.state == VersionState.APPROVED,
            "task_name": task.name_in(page_language()),
        }
    return render(request, "generation/run_preview.html", context, status=400 if form.errors else 200)
