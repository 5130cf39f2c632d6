"""The wording of the guidelines: leads change it, everybody sees what differs between two versions."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.differences import Piece, text_difference
from core import actions, guidelines
from core.models import GuidelinesVersion
from core.refusals import Invalid, Refused
from leading.views import lead


@dataclass(frozen=True)
class Field:
    """One text in one language: what it begins with, and what stands in the form."""

    name: str
    language: str
    default: str
    value: str
    error: str
    is_guidance: bool


@dataclass(frozen=True)
class Section:
    key: str
    title: Promise
    fields: list[Field]
    changed: int


@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest) -> HttpResponse:
    person, newest = lead(request), guidelines.newest()
    refusal: Refused | None = None
    if request.method == "POST":
        sent = _sent(request)
        based_on = request.POST.get("based_on", "")
        number = int(based_on) if based_on.isascii() and based_on.isdecimal() and len(based_on) < 9 else -1
        try:
            made = actions.save_guidelines(texts=sent, note=request.POST.get("note", ""), based_on=number, by=person)
        except Refused as said:
            refusal = said
        else:
            messages.success(request, _("The guidelines are now at version %(version)s.") % {"version": made.name})
            return redirect("core:guidelines")
    context = {
        "section": "guidelines",
        "sections": _sections(request, newest, refusal),
        "based_on": newest.number if newest else 0,
        "version": guidelines.name_of(newest),
        "note": request.POST.get("note", ""),
        "refusal": refusal,
        "note_error": refusal.errors.get("note", [""])[0] if isinstance(refusal, Invalid) else "",
        "longest": {"wording": actions.LONGEST_WORDING, "guidance": actions.LONGEST_GUIDANCE},
    }
    return render(request, "leading/guidelines_edit.html", context, status=refusal.status if refusal else 200)


def _name(key: str, language: str) -> str:
    return f"{key}:{language}"


def _sent(request: HttpRequest) -> dict[str, dict[str, str]]:
    """Only what the form has: a text that was not sent is not changed."""
    sent: dict[str, dict[str, str]] = {}
    for key in guidelines.WORDINGS:
        for language in guidelines.LANGUAGES:
            text = request.POST.get(_name(key, language))
            if text is not None:
                sent.setdefault(key, {})[language] = text
    return sent


def _sections(request: HttpRequest, newest: GuidelinesVersion | None, refusal: Refused | None) -> list[Section]:
    errors: dict[str, list[Any]] = refusal.errors if isinstance(refusal, Invalid) else {}
    found = []
    for section, title in guidelines.SECTIONS.items():
        fields = []
        for key in guidelines.WORDINGS:
            if key.partition(".")[0] != section:
                continue
            for language in guidelines.LANGUAGES:
                name = _name(key, language)
                now = guidelines.text_in(newest, key, language)
                fields.append(
                    Field(
                        name,
                        language,
                        guidelines.text_in(None, key, language),
                        request.POST.get(name, now),
                        str(errors.get(key, [""])[0]),
                        key.endswith(f".{guidelines.GUIDANCE}"),
                    )
                )
        fields.sort(key=lambda one: one.is_guidance)
        found.append(Section(section, title, fields, sum(one.value.strip() != one.default for one in fields)))
    return found


@dataclass(frozen=True)
class Difference:
    section: Promise
    language: str
    pieces: list[Piece]


@require_GET
def versions(request: HttpRequest) -> HttpResponse:
    """Every version with who, when and why; and what differs between any two of them. For everybody."""
    made = list(GuidelinesVersion.objects.select_related("saved_by").order_by("-number"))
    by_number = {version.number: version for version in made}
    last = made[0].number if made else 0
    later = _chosen(request, "to", by_number, last)
    earlier = _chosen(request, "from", by_number, max(0, later - 1))
    found = guidelines.rewordings(by_number.get(earlier), by_number.get(later))
    context = {
        "section": "guidelines",
        "versions": made,
        "beginning": guidelines.GUIDELINES_VERSION,
        "earlier": earlier,
        "later": later,
        "differences": [Difference(one.section, one.language, text_difference(one.before, one.after)) for one in found],
    }
    return render(request, "leading/guidelines_versions.html", context)


def _chosen(request: HttpRequest, name: str, known: dict[int, GuidelinesVersion], otherwise: int) -> int:
    said = request.GET.get(name, "")
    number = int(said) if said.isascii() and said.isdecimal() and len(said) < 9 else otherwise
    return number if number in known or number == 0 else otherwise
