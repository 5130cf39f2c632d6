"""Pages and an API of the tests' own, beside the product's: they count their effects."""

import threading
import time
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
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
    path("act/", act),
    path("crash/", crash),
    path("refuse/<str:which>/", refuse),
    path("api/v1/", include(router.urls)),
    *product_urls,
]

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]
