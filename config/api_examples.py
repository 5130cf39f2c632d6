"""Examples of the bodies that programs most often send: (method, path) -> body. Tests hold them against the schema."""

from typing import Any

DIMENSIONS = ("task_alignment", "context_requirement", "authenticity", "answer_correctness")

EXAMPLES: dict[tuple[str, str], dict[str, Any]] = {
    ("post", "/api/v1/documents/"): {
        "text": "The harbour log of Saint Anne.\n\nOn the first of May the brig Heron came in with salt.\n",
        "title": "Harbour log",
        "language": "English",
        "domain": "history",
        "format": "report",
        "licence": "CC0",
    },
    ("post", "/api/v1/documents/{id}/reject/"): {"flags": ["privacy"], "note": "Names a patient."},
    ("post", "/api/v1/documents/{id}/join/"): {"documents": [12, 15], "title": "Harbour logs", "reason": "for 64k"},
    ("post", "/api/v1/documents/{id}/correct/"): {"version": 1, "domain": "history", "licence": "CC0"},
    ("post", "/api/v1/documents/{id}/revise/"): {"based_on": 1, "text": "The whole new text.", "reason": "OCR mended"},
    ("post", "/api/v1/samples/"): {"document": 12, "secondary_task": "T1.2"},
    ("post", "/api/v1/samples/draft/"): {"samples": [4, 5, 6], "run_budget_usd": "2.5000"},
    ("post", "/api/v1/samples/{id}/select/"): {"candidate": 31},
    ("post", "/api/v1/samples/{id}/submit/"): {"checklist": [True] * 7, "note": ""},
    ("post", "/api/v1/samples/{id}/reject/"): {
        "remarks": [{"part": "answer", "element": 2, "text": "The Heron paid nine crowns, not ten."}],
        "feedback": "One element to mend.",
    },
    ("post", "/api/v1/samples/{id}/standardize/"): {
        "version": 0,
        "task_description": "Which ships paid a late fee, largest fee first?",
        "elements": "the ship names in order of the fee",
        "supplementary": "",
        "example": ["Gull", "Swan"],
        "complete": False,
    },
    ("post", "/api/v1/candidates/{id}/edit/"): {"version": 1, "question": "Which ships paid a late fee?"},
    ("post", "/api/v1/candidates/{id}/task_a/"): {"version": 1, "verdict": "compliant", "checks": [True] * 4},
    ("post", "/api/v1/candidates/{id}/task_b/"): {"version": 1, "verdict": "correct", "checks": [True] * 4},
    ("post", "/api/v1/candidates/{id}/challenge/"): {"version": 1},
    ("post", "/api/v1/candidates/{id}/task_c/"): {"version": 1, "verdict": "challenging"},
    ("post", "/api/v1/cases/{id}/review/"): {
        "version": 0,
        "marks": [{"mark": "correct", "note": ""}],
        "recall": [{"element": "Gull", "mark": "unreasonable", "note": "It paid nothing."}],
        "additions": [],
        "issues": [],
        "submit": True,
    },
    ("post", "/api/v1/cases/{id}/adjudicate/"): {
        "outcome": "reconstruct",
        "step": "answer",
        "reason": "The Tern is missing.",
        "proposal": ["Marigold", "Heron", "Tern"],
    },
    ("post", "/api/v1/audits/"): {"size": 300, "seed": 7},
    ("post", "/api/v1/audits/{id}/score/"): {
        "scores": {name: {"score": 1, "why": "It holds."} for name in DIMENSIONS},
        "attributes": dict.fromkeys(("language", "length", "task", "context_requirement", "answer"), True),
    },
    ("post", "/api/v1/runs/cancel/"): {"ids": [3, 4]},
    ("post", "/api/v1/calls/retry/"): {"run": 3, "state": "failed"},
    ("post", "/api/v1/releases/"): {"version": "2026.1", "allow_incomplete": False},
    ("post", "/api/v1/guidelines/"): {
        "texts": {"task_a.fits_task": {"en": "The question fits the secondary task.", "zh-hans": "问题符合二级任务。"}},
        "note": "Shorter.",
        "based_on": 0,
    },
}


def with_examples(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """A hook of drf-spectacular."""
    for (method, path), body in EXAMPLES.items():
        operation = result["paths"].get(path, {}).get(method)
        content = operation["requestBody"]["content"].get("application/json") if operation else None
        if content is not None:
            content["example"] = body
    return result
