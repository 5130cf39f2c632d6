"""Correcting what is recorded, and editing the text."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from core.refusals import NotAllowed, Refused
from core.viewing import STALE, person_of, refuse_into
from documents import actions, queries
from documents.forms import CorrectionForm, DecisionForm, RevisionForm
from documents.models import Document, DocumentVersion
from documents.views.compliance import detail_page, version_asked_for


@require_POST
def document_correct(request: HttpRequest, pk: int) -> HttpResponse:
    document = get_object_or_404(Document.objects.select_related("imported_by"), pk=pk)
    if not actions.can_correct_document(person_of(request), document):
        raise NotAllowed(_("This is not for your role to do."))
    form = CorrectionForm(request.POST)
    if form.is_valid():
        try:
            actions.correct_document(document=document, by=person_of(request), **form.cleaned_data)
        except Refused as refusal:
            refuse_into(form, refusal)
            status = refusal.status
        else:
            messages.success(request, _("Corrected."))
            return redirect("documents:document_detail", pk=pk)
    else:
        status = 400
    document.refresh_from_db()
    version = version_asked_for(request, document)
    return detail_page(request, version, DecisionForm(), status=status, correction=form, correcting=True)


@require_http_methods(["GET", "HEAD", "POST"])
def document_revise(request: HttpRequest, pk: int) -> HttpResponse:
    """Edit the text: a new version, which goes back to compliance."""
    document = get_object_or_404(Document, pk=pk)
    person = person_of(request)
    if not actions.can_revise_document(person, document):
        raise NotAllowed(_("This is not for your role to do."))
    latest = version_asked_for(request, document)
    status = 200
    if request.method == "POST":
        form = RevisionForm(request.POST)
        status = 400
        if form.is_valid():
            try:
                actions.revise_document(document=document, by=person, **form.cleaned_data)
            except Refused as refusal:
                latest = _refused_onto_newest(document, latest, form, refusal)
                status = refusal.status
            else:
                messages.success(request, _("The new text waits for compliance."))
                return redirect("documents:document_detail", pk=pk)
    else:
        form = RevisionForm(initial={"text": queries.text_of(latest), "based_on": latest.number})
    context = {"section": "documents", "document": document, "version": latest, "form": form, "stale": status == 409}
    return render(request, "documents/document_revise.html", context, status=status)


def _refused_onto_newest(
    document: Document, latest: DocumentVersion, form: RevisionForm, refusal: Refused
) -> DocumentVersion:
    """Somebody saved another text meanwhile: what was typed stays, says of which version it would be the next, and can
    be saved once more. Until then nothing is overwritten."""
    if refusal.rule != STALE:
        refuse_into(form, refusal)
        return latest
    newest = document.versions.select_related("made_by").latest("number")
    form.add_error(
        None,
        _("Version %(n)s was saved meanwhile. Compare it with your text; saved now, yours comes after it.")
        % {"n": newest.number},
    )
    form.data = {name: form.data[name] for name in form.data} | {"based_on": str(newest.number)}
    return newest
