"""What is sent along with a POST, so that what is refused is refused to the person and not for the words.

Of the API every body is made up from its description in the schema: each required field by its type. What a type does
not tell (which number, which word) is said here. Of pages only what is asked for before the person is looked at.
"""

from typing import Any

from drf_spectacular.generators import SchemaGenerator

from core.guidelines import CHECKLIST, TASK_A_CHECKS
from tests.leading.access_scene import Scene

PREFIX = "/api/v1/"


def described() -> dict[tuple[str, str], dict[str, Any]]:
    """(method, route of the URL conf) -> a body that its schema allows."""
    schema: Any = SchemaGenerator().get_schema(request=None, public=True)
    parts = schema["components"]["schemas"]
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for path, operations in schema["paths"].items():
        route = path.replace("{id}", "<pk>").replace("{", "<").replace("}", ">").lstrip("/").rstrip("/") + "/"
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {})
            asked: dict[str, Any] = content.get("application/json") or next(iter(content.values()), {})
            if asked:
                found[method.upper(), route] = _made_up(asked["schema"], parts)
    return found


def _made_up(schema: dict[str, Any], parts: dict[str, Any]) -> Any:
    if "$ref" in schema:
        return _made_up(parts[schema["$ref"].rpartition("/")[2]], parts)
    for word in ("allOf", "oneOf", "anyOf"):
        if word in schema:
            return _made_up(schema[word][0], parts)
    if "enum" in schema:
        return schema["enum"][0]
    kinds = {"integer": 1, "number": 1, "boolean": True, "string": "words"}
    kind = schema.get("type", "string")
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: _made_up(properties[name], parts) for name in schema.get("required", []) if name in properties}
    if kind == "array":
        return [_made_up(schema["items"], parts)] * schema.get("minItems", 0)
    return kinds.get(kind, "words")


def said(scene: Scene) -> dict[tuple[str, str], dict[str, Any]]:
    """What the schema does not tell, by method and route; of pages the fields of the form."""
    four, seven = [True] * 4, [True] * 7
    run_call = scene.objects["challenged"]["run_call"]
    judged = {"version": 1, "checks": four}
    api: dict[str, dict[str, Any]] = {
        "samples/": {"document": scene.id_of("document"), "secondary_task": "T2.1"},
        "samples/draft/": {"samples": [scene.id_of("planned")]},
        "samples/estimate/": {"samples": [scene.id_of("planned")]},
        "samples/<pk>/take_over/": {"holder": scene.annotator.username},
        "samples/<pk>/select/": {"candidate": scene.id_of("candidate")},
        "samples/<pk>/submit/": {"checklist": seven},
        "samples/<pk>/answer_remark/": {"remark": scene.id_of("remark")},
        "samples/<pk>/time/": {"beat": "b1", "seconds": {"read": 1}},
        "samples/<pk>/standardize/": {"version": 0, "example": ["Gull", "Swan"]},
        "candidates/<pk>/task_a/": {**judged, "verdict": "compliant"},
        "candidates/<pk>/task_b/": {**judged, "verdict": "correct"},
        "candidates/<pk>/task_c/": {"version": 1, "verdict": "challenging"},
        "candidates/discard/": {"candidates": [scene.id_of("candidate")]},
        "documents/<pk>/correct/": {"title": "Log"},
        "documents/<pk>/revise/": {"based_on": 1, "text": "Another log."},
        "candidates/<pk>/overrule/": {"run_call": run_call},
        "documents/": {"text": "A log.", "title": "Log", "language": "English"},
        "documents/<pk>/reject/": {"flags": ["privacy"], "note": "names"},
        "documents/<pk>/join/": {"documents": [scene.id_of("document2")]},
        "runs/retry/": {"ids": [scene.id_of("run")]},
        "runs/cancel/": {"ids": [scene.id_of("run")]},
        "cases/<pk>/free_seat/": {"review": scene.objects["case"]["review"]},
        "people/": {"role": "annotator", "email": "new@example.org"},
    }
    pages: dict[str, dict[str, Any]] = {
        "samples/<int:pk>/take-over": {"holder": scene.annotator.pk, "reason": "ill"},
        "samples/<int:pk>/select": {"candidate": scene.id_of("candidate")},
        "samples/<int:pk>/submit": {"checklist": [item.code for item in CHECKLIST]},
        "candidates/<int:pk>/overrule": {"run_call": run_call, "right": "yes", "reason": "a synonym"},
        "candidates/<int:pk>/task-a": {"version": 1, "verdict": "compliant", "checks": [c.code for c in TASK_A_CHECKS]},
        "candidates/<int:pk>/task-c": {"version": 1, "verdict": "challenging"},
        "candidates/<int:pk>/discard": {"reason": "trivial"},
        "documents/<int:pk>/correct/": {"title": "Log", "language": "English", "version": 1},
        "documents/versions/<int:pk>/decide/": {"decision": "approve"},
        "quality/": {"size": 1, "seed": 1},
        "cases/<int:pk>/adjudicate/": {"decision": "no_issue"},
        "people/": {"name": "nina", "role": "annotator"},
        "people/<int:pk>/role/": {"role": "expert"},
    }
    return {
        **{("POST", f"api/v1/{route}"): body for route, body in api.items()},
        **{("POST", route): body for route, body in pages.items()},
    }
