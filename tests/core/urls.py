"""Pages and an API of the tests' own, beside the product's: they count their effects."""

import threading
import time
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template import RequestContext, Template
from django.urls import include, path
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from config.urls import handler400, handler403, handler404, handler500
from config.urls import urlpatterns as product_urls
from core.api import ViewSet
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken

EFFECTS: list[str] = []
_lock = threading.Lock()

REFUSALS = {
    "not_allowed": NotAllowed(_("This is not yours.")),
    "conflict": Conflict("Somebody was faster.", rule="stale_version", state="in_audit"),
    "rule": RuleBroken("Tick all seven items.", rule="checklist_incomplete"),
    "invalid": Invalid({"question": "Write a question.", "answer": ["Too short.", "Not in the document."]}),
}


def take_effect(name: str) -> None:
    with _lock:
        EFFECTS.append(name)


def act(request: HttpRequest) -> HttpResponse:
    if "crash" in request.POST.get("text", ""):
        raise RuntimeError("nobody foresaw this")
    take_effect(request.POST.get("text", ""))
    time.sleep(float(request.POST.get("seconds", "0")))
    messages.success(request, "Saved.")
    return HttpResponse(f"effect {len(EFFECTS)}") if request.headers.get("HX-Request") else redirect("/acted/")


def crash(request: HttpRequest) -> HttpResponse:
    take_effect("crash")
    if len(EFFECTS) == 1:
        raise RuntimeError("the first attempt dies")
    return HttpResponse("second attempt")


def refuse(request: HttpRequest, which: str) -> HttpResponse:
    take_effect(which)
    raise REFUSALS[which]


DESK = """{% extends "work.html" %}{% load ui %}
{% block title %}Desk{% endblock %}
{% block ident %}<h1 class="ident">Desk</h1>{% endblock %}
{% block bar %}<span class="save" role="status"></span>{% endblock %}
{% block content %}<section class="card__body stack">
<form id="note" method="post" action="/save/" data-autosave>{% csrf_token %}
<input type="hidden" name="version" value="1"><textarea class="input" name="note" id="note-text"></textarea></form>
<form id="verdict" method="post" action="/act/" hx-post="/act/" hx-target="#out">{% csrf_token %}{% once %}
<input type="hidden" name="version" value="1" data-version-of="note">
<textarea class="input" name="text" id="text"></textarea><button class="btn" data-key="y">Correct</button></form>
<button class="btn" data-key="x" aria-disabled="true" aria-describedby="why">Discard</button>
<p id="why">You edited the answer, so this is closed.</p><p id="out"></p></section>{% endblock %}"""


ROWS = """{% extends "base.html" %}
{% block title %}Rows{% endblock %}
{% block content %}<form><input type="search" name="q" aria-label="Search"></form><table class="table"><tbody>
<tr><td><a href="/desk/?1">first</a></td></tr><tr><td><a href="/desk/?2">second</a></td></tr></tbody></table>
{% endblock %}"""


def rows(request: HttpRequest) -> HttpResponse:
    return HttpResponse(Template(ROWS).render(RequestContext(request)))


def desk(request: HttpRequest) -> HttpResponse:
    return HttpResponse(Template(DESK).render(RequestContext(request)))


def save(request: HttpRequest) -> HttpResponse:
    text, version = request.POST["note"], int(request.POST["version"])
    if "conflict" in text:
        raise REFUSALS["conflict"]
    if "wrong" in text:
        raise Invalid({"note": "Name the place."})
    take_effect(text)
    return JsonResponse({"version": version + 1})


class ThingSerializer(serializers.Serializer[dict[str, Any]]):
    name = serializers.CharField(max_length=5)
    parts = serializers.ListField(child=serializers.IntegerField(), required=False)


class Things(ViewSet):
    serializer_class = ThingSerializer

    def list(self, request: Request) -> Response:
        return Response({"person": self.person.username})

    def create(self, request: Request) -> Response:
        serializer = ThingSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        name = serializer.validated_data["name"]
        take_effect(name)
        if name in REFUSALS:
            raise REFUSALS[name]
        if name == "none":
            raise Http404
        if name == "crash":
            raise RuntimeError("nobody foresaw this")
        return Response({"number": len(EFFECTS), "name": name}, status=201)


router = SimpleRouter()
router.register("things", Things, basename="thing")

urlpatterns = [
    path("desk/", desk),
    path("desk/rows/", rows),
    path("save/", save),
    path("act/", act),
    path("crash/", crash),
    path("refuse/<str:which>/", refuse),
    path("api/v1/", include(router.urls)),
    *product_urls,
]

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]
