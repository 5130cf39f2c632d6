"""Pages of the last stage: what is ready, labels, releases and their files."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.differences import ADDED, REMOVED, Piece, line_difference, text_difference
from benchmark.record import FIELDS
from benchmark.taxonomy import SECONDARY_TASKS, Language, SecondaryTask
from core.models import BenchmarkSettings, User
from core.refusals import Invalid, RuleBroken
from core.viewing import csv_response, refuse_into
from release import actions, formats, labelling, listings, queries
from release.bundling import HAS_FILES, download_response
from release.collecting import collect
from release.comparing import Change, Kind, compare
from release.figures import Filled, unmet
from release.forms import ReleaseForm, WithdrawForm
from release.models import LeftOut, Release
from release.readiness import Group, Reason, Report, Verdict, judge
from release.viewing import lead_of
from release.workflow import ReleaseState

SHOWN = 100
COMPARED = 25


def _report() -> Report:
    lengths = BenchmarkSettings.load().lengths
    return judge(collect(lengths), lengths)


# What is ready ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TaskRow:
    """One task's line of the balance, its cells language by language."""

    task: SecondaryTask
    parts: list[list[Filled]]

    @property
    def ready(self) -> int:
        return sum(filled.samples for part in self.parts for filled in part)


def _balance_rows(cells: Sequence[Filled], buckets: int) -> list[TaskRow]:
    width = buckets * len(Language)
    rows = []
    for place, task in enumerate(SECONDARY_TASKS):
        row = cells[place * width : (place + 1) * width]
        parts = [list(row[start : start + buckets]) for start in range(0, width, buckets)]
        rows.append(TaskRow(task, parts))
    return rows


@dataclass(frozen=True)
class Bar:
    """One language and length over all tasks: how many samples are ready, how many there shall be."""

    language: str
    bucket: str
    ready: int
    target: int

    @property
    def missing(self) -> int:
        return max(0, self.target - self.ready)


def _plot(cells: Sequence[Filled]) -> list[Bar]:
    """Samples beyond a cell's target do not stand for those another one lacks."""
    ready, target = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for filled in cells:
        key = (filled.cell.language, filled.cell.bucket)
        ready[key] += min(filled.samples, filled.target)
        target[key] += filled.target
    return [Bar(*key, ready[key], target[key]) for key in target]


@dataclass(frozen=True)
class Step:
    """Where somebody goes who wants to mend what keeps a sample out."""

    name: str
    label: str
    pk: int


@dataclass(frozen=True)
class LeftOutRow:
    verdict: Verdict

    @property
    def step(self) -> Step:
        sample = self.verdict.collected.sample
        if not sample.document_version.is_approved:
            return Step("documents:document_detail", _("Open document"), sample.document_id)
        return Step("annotation:sample_detail", _("Open sample"), sample.pk)


def _labels_context() -> dict[str, Any]:
    runs = BenchmarkSettings.load().difficulty_runs
    waiting = list(queries.waiting_labels().defer("standardization__question_thinking")[: SHOWN + 1])
    ended, asked = queries.call_progress()
    return {
        "estimate": labelling.estimate(runs),
        "runs": runs,
        "waiting": waiting[:SHOWN],
        "more_waiting": len(waiting) > SHOWN,
        "blocked": list(queries.unlabelled(blocked=True)[:SHOWN]),
        "ended": ended,
        "asked": asked,
        "polls": any(not label.missing and not label.refusal for label in waiting) or ended < asked,
    }


@require_http_methods(["GET", "POST"])
def release_list(request: HttpRequest) -> HttpResponseBase:
    person = lead_of(request)
    if request.method == "GET" and request.GET.get("format") == "csv":
        return csv_response(listings.readiness_lines(_report().verdicts), "readiness.csv")
    form = ReleaseForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        release = _make(form, person)
        if release is not None:
            return redirect("release:release_detail", release.version)
    status = 400 if request.method == "POST" else 200
    return render(
        request, "release/release_list.html", _list_context(form, request.GET.get("group", "")), status=status
    )


def _make(form: ReleaseForm, person: User) -> Release | None:
    """The release, or None with the refusal at the field it is about."""
    try:
        return actions.make_release(by=person, **form.cleaned_data)
    except Invalid as refusal:
        refuse_into(form, refusal)
    except RuleBroken as refusal:
        refuse_into(form, refusal, field="allow_incomplete" if refusal.rule == "targets_unmet" else None)
    return None


def _list_context(form: ReleaseForm, group: str = "") -> dict[str, Any]:
    report = _report()
    cells = report.balance(queries.targets())
    left_out, difficulties = report.left_out, report.difficulties()
    shown = [verdict for verdict in left_out if group in ("", *verdict.groups)]
    return {
        "section": "releases",
        "form": form,
        "report": report,
        "ready": len(report.ready),
        "left_out": [LeftOutRow(verdict) for verdict in shown[:SHOWN]],
        "left_out_count": len(left_out),
        "shown_count": len(shown),
        "group": Group(group) if group in Group.values else None,
        "groups": report.groups(),
        "difficulties": difficulties,
        "most": max(difficulties.values(), default=0) or 1,
        "without_samples": report.without_samples() if report.ready else {},
        "rows": _balance_rows(cells, len(report.lengths.names())),
        "plot": _plot(cells),
        "imports": queries.imports(),
        "buckets": report.lengths.names(),
        "languages": list(Language),
        "below": len(unmet(cells)),
        "cells": len(cells),
        "releases": queries.releases(),
        **_labels_context(),
    }


# Labels -------------------------------------------------------------------------------------------------------------


@require_POST
def label_all(request: HttpRequest) -> HttpResponse:
    """Every accepted sample that has no label and is not blocked."""
    labels = actions.label_samples(samples=list(queries.unlabelled()), by=lead_of(request))
    words = ngettext(
        "%(count)d sample waits for its difficulty.", "%(count)d samples wait for their difficulty.", len(labels)
    )
    messages.success(request, words % {"count": len(labels)})
    return redirect("release:release_list")


@require_GET
def labels(request: HttpRequest) -> HttpResponse:
    """The card that shows how far the labels are; it asks again only while one is unfinished."""
    lead_of(request)
    return render(request, "release/release_list.html#labels", _labels_context())


# One release --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LeftOutItem:
    row: LeftOut

    @property
    def reasons(self) -> list[Reason]:
        return [Reason.from_json(reason) for reason in self.row.reasons]


def _holds(release: Release, name: str) -> str:
    count = {"count": release.total}
    words = {
        formats.JSON_FILE: _("%(count)d samples"),
        formats.JSONL_FILE: _("%(count)d lines"),
        formats.PARQUET_FILE: _("%(count)d rows, zstd"),
        formats.CARD_FILE: _("dataset card"),
        formats.STATISTICS_FILE: _("counts per dimension"),
        formats.PROVENANCE_FILE: _("people as pseudonyms"),
        formats.MANIFEST_FILE: _("checksums of the others"),
    }
    return words[name] % count


def _files(release: Release) -> list[dict[str, Any]]:
    if release.state not in HAS_FILES:
        return []
    rows = [*release.manifest["files"], formats.describe_bytes(formats.MANIFEST_FILE, release.manifest)]
    return [{**row, "holds": _holds(release, row["name"])} for row in rows]


def _detail_context(release: Release) -> dict[str, Any]:
    left_out = list(queries.left_out_of(release)[: SHOWN + 1])
    statistics = release.statistics
    return {
        "section": "releases",
        "release": release,
        "state": {"frozen": "pass", "building": "now", "failed": "fail"}.get(release.state, "warn"),
        "polls": release.state == ReleaseState.BUILDING,
        "files": _files(release),
        "has_files": release.state in HAS_FILES,
        "pushes": queries.pushes_of(release),
        "comparable": release.state in HAS_FILES and queries.comparable_with(release).exists(),
        "left_out": [LeftOutItem(row) for row in left_out[:SHOWN]],
        "left_out_count": release.left_out.count(),
        "counts": {name: statistics["counts"][name] for name in _COUNTED} if statistics else {},
        "balance": statistics.get("balance", {}),
        "without_samples": {name: gaps for name, gaps in statistics.get("without_samples", {}).items() if gaps},
        "simulated": statistics.get("samples_by_simulated_models", 0),
    }


_COUNTED = ("difficulty", "language", "token_length", "contextual_requirement", "primary_task")


@require_GET
def release_detail(request: HttpRequest, version: str) -> HttpResponseBase:
    lead_of(request)
    release = get_object_or_404(queries.releases(), version=version)
    if request.GET.get("format") == "csv":
        return csv_response(listings.item_lines(release), f"{release.version}.csv")
    return render(request, "release/release_detail.html", {**_detail_context(release), "form": WithdrawForm()})


@require_GET
def release_state(request: HttpRequest, version: str) -> HttpResponse:
    """The state while the files are being made. When they are, the page is loaded anew."""
    lead_of(request)
    release = get_object_or_404(queries.releases(), version=version)
    if release.state != ReleaseState.BUILDING:
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "release/release_detail.html#state", _detail_context(release))


@require_POST
def release_withdraw(request: HttpRequest, version: str) -> HttpResponse:
    person, release = lead_of(request), get_object_or_404(queries.releases(), version=version)
    form = WithdrawForm(request.POST)
    if form.is_valid():
        actions.withdraw_release(release=release, reason=form.cleaned_data["reason"], by=person)
        messages.success(request, _("Release %(version)s is withdrawn.") % {"version": release.version})
        return redirect("release:release_detail", release.version)
    return render(request, "release/release_detail.html", {**_detail_context(release), "form": form}, status=400)


@require_POST
def release_retry(request: HttpRequest, version: str) -> HttpResponse:
    person, release = lead_of(request), get_object_or_404(queries.releases(), version=version)
    actions.retry_release(release=release, by=person)
    return redirect("release:release_detail", release.version)


@require_POST
def release_cancel(request: HttpRequest, version: str) -> HttpResponse:
    person, release = lead_of(request), get_object_or_404(queries.releases(), version=version)
    actions.cancel_release(release=release, by=person)
    messages.success(request, _("Release %(version)s is not made any further.") % {"version": release.version})
    return redirect("release:release_detail", release.version)


@require_GET
def release_download(request: HttpRequest, version: str) -> HttpResponseBase:
    lead_of(request)
    return download_response(get_object_or_404(queries.releases(), version=version))


# Two releases -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FieldChange:
    """One field of a changed sample: its pieces, or for a context the two checksums."""

    name: str
    pieces: list[Piece]
    is_list: bool = False


@dataclass(frozen=True)
class ChangeRow:
    change: Change

    @property
    def label(self) -> str:
        return f"S-{self.change.sample:04d}"

    @property
    def fields(self) -> list[FieldChange]:
        before, after = self.change.before, self.change.after
        if before is None or after is None:
            return []
        return [_field_change(name, before[name], after[name]) for name in self.change.fields]


def _field_change(name: str, before: Any, after: Any) -> FieldChange:
    if isinstance(after, list):
        return FieldChange(name, line_difference(before, after), is_list=True)
    if name.startswith("question"):
        return FieldChange(name, text_difference(before, after))
    return FieldChange(name, [Piece(REMOVED, str(before)), Piece(ADDED, str(after))])


@require_GET
def release_compare(request: HttpRequest, version: str) -> HttpResponse:
    """This release beside an earlier or later one, which `with` names."""
    lead_of(request)
    new = get_object_or_404(queries.releases(), version=version)
    others = list(queries.comparable_with(new))
    old = next((one for one in others if one.version == request.GET.get("with", one.version)), None)
    if old is None and request.GET.get("with"):
        raise Http404
    context: dict[str, Any] = {"section": "releases", "release": new, "others": others, "old": old}
    if old is not None:
        context |= _comparison_context(request, old, new)
    return render(request, "release/release_compare.html", context)


def _comparison_context(request: HttpRequest, old: Release, new: Release) -> dict[str, Any]:
    kind, field = request.GET.get("kind", ""), request.GET.get("field", "")
    said = request.GET.get("page", "")
    page = int(said) if said.isascii() and said.isdecimal() and len(said) < 7 else 1
    found = compare(old, new, kind=kind, field=field, start=max(page - 1, 0) * COMPARED, length=COMPARED)
    page_obj = Paginator(range(found.matching), COMPARED).get_page(page)
    if page_obj.number != max(page, 1):
        found = compare(old, new, kind=kind, field=field, start=(page_obj.number - 1) * COMPARED, length=COMPARED)
    return {
        "found": found,
        "counts": [(one, found.counts[one]) for one in Kind],
        "differing": sum(found.counts.values()),
        "by_field": [(name, found.by_field[name]) for name in FIELDS if found.by_field[name]],
        "kind": kind,
        "field": field,
        "rows": [ChangeRow(change) for change in found.changes],
        "page_obj": page_obj,
    }
