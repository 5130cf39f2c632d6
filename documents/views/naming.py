"""The list of names that every text is looked through for."""

from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from core.models import Event
from core.refusals import NotAllowed, Refused
from core.viewing import person_of, refuse_into
from documents import actions, queries
from documents.forms import NamesForm
from documents.looking import outdated
from documents.models import WatchedNames
from documents.naming import MAX_NAMES, names_of

SHOWN_LISTS = 30


@require_http_methods(["GET", "HEAD", "POST"])
def watched_names(request: HttpRequest) -> HttpResponse:
    """Leads read and change the list; everybody else learns that there is one, and how long it is."""
    person = person_of(request)
    may_watch = actions.can_watch_names(person)
    holding = queries.watched_names()
    form = NamesForm(initial={"names": holding.names if holding else "", "based_on": holding.pk if holding else 0})
    status = 200
    if request.method == "POST":
        if not may_watch:
            raise NotAllowed(_("Only leads change the list of names."))
        form = NamesForm(request.POST)
        status = 400
        if form.is_valid():
            try:
                made = actions.watch_names(by=person, **form.cleaned_data)
            except Refused as refusal:
                # After a conflict the form stands on the list of now: whoever sends it again has been told.
                form = NamesForm({**form.cleaned_data, "based_on": holding.pk if holding else 0})
                form.is_valid()
                refuse_into(form, refusal)
                status = refusal.status
            else:
                messages.success(request, _in_words(made))
                return redirect("documents:watched_names")
    context = {
        "section": "documents",
        "holding": holding,
        "behind": outdated().count(),
        "count": len(names_of(holding.names)) if holding else 0,
        "limit": MAX_NAMES,
        "may_watch": may_watch,
        "form": form if may_watch else None,
        "lists": _lists()[:SHOWN_LISTS],
    }
    return render(request, "documents/watched_names.html", context, status=status)


def _in_words(made: WatchedNames) -> str:
    count = len(names_of(made.names))
    return ngettext("%(n)s name is looked for from now on.", "%(n)s names are looked for from now on.", count) % {
        "n": intcomma(count)
    }


def _lists() -> QuerySet[Event]:
    return Event.objects.filter(action="documents.watch_names").select_related("by").order_by("-pk")
