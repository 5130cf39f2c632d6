"""From posted fields to what the actions take."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from review.judging import Content, Mark
from review.workflow import Dimension, IssueKind

LARGEST = 2**63 - 1


def content_from(data: QueryDict, *, elements: int) -> Content:
    """The review form as posted, in the shape of a review; nothing is checked yet, so that all of it can be shown."""
    return Content(
        marks=[{"mark": data.get(f"mark-{n}", ""), "note": data.get(f"note-{n}", "")} for n in range(1, elements + 1)],
        recall=_recall(data),
        additions=[text for text in data.getlist("addition") if text.strip()],
        issues=_issues(data),
    )


def _recall(data: QueryDict) -> list[Mark]:
    rows = []
    for n, element in enumerate(data.getlist("predicted"), 1):
        # Browsers send line ends as CRLF.
        element = element.replace("\r\n", "\n")
        rows.append({"element": element, "mark": data.get(f"recall-{n}", ""), "note": data.get(f"recall-note-{n}", "")})
    return rows


def _issues(data: QueryDict) -> list[Mark]:
    """A kind counts when it is ticked or when something was written beside it: no word is lost."""
    ticked = set(data.getlist("issue"))
    notes = {kind: data.get(f"issue-{kind}", "") for kind in IssueKind.values}
    return [{"kind": kind, "note": notes[kind]} for kind in IssueKind.values if kind in ticked or notes[kind].strip()]


def decisions_from(data: QueryDict) -> list[Mark]:
    """The expert's decisions element by element, in the order of the form's rows."""
    return [
        {"element": element.replace("\r\n", "\n"), "mark": data.get(f"decided-{number}", "")}
        for number, element in zip(data.getlist("row"), data.getlist("element"), strict=False)
    ]


def lines_from(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def version_from(data: QueryDict) -> int:
    try:
        return int(data.get("version", ""))
    except ValueError:
        return 0


class DrawForm(forms.Form):
    size = forms.IntegerField(label=_("Samples"), min_value=1, max_value=10_000, initial=300)
    seed = forms.IntegerField(label=_("Seed"), min_value=-LARGEST, max_value=LARGEST, initial=1)


def scores_from(data: QueryDict) -> dict[str, dict[str, Any]]:
    values = {"0": 0, "0.5": 0.5, "1": 1}
    return {
        name: {"score": values.get(data.get(f"score-{name}", "")), "why": data.get(f"why-{name}", "")}
        for name in Dimension.values
    }


def attributes_from(data: QueryDict, names: tuple[str, ...]) -> dict[str, Any]:
    values = {"yes": True, "no": False}
    return {name: values.get(data.get(f"attribute-{name}", "")) for name in names}
