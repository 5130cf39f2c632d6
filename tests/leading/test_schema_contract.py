"""The API against its own description: made-up requests as every role, each answer held against the schema.

No 500, no status and no media type that the schema does not name, no body of another shape. Half of the requests name
an object that exists, so that what is made up reaches the actions; each is undone afterwards.
"""

import itertools
import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy
from jsonschema import Draft202012Validator
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from config.api_examples import EXAMPLES
from core.authentication import issue_token
from core.workflow import Scope
from tests.leading import access_table
from tests.leading.access_bodies import described as made_up
from tests.leading.access_bodies import said
from tests.leading.access_scene import STANDPOINTS, Scene, address
from tests.leading.access_walking import ask, client_of, undone

pytestmark = pytest.mark.django_db

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# Examples of each operation from which on nothing is left out.
MANY = 10
ROLES = ("annotator", "expert", "lead", "read_token", "anonymous")


@pytest.fixture(scope="module")
def described() -> Any:
    return SchemaGenerator().get_schema(request=None, public=True)


@pytest.fixture(autouse=True)
def _one_connection() -> Iterator[None]:
    """A request of a real server leaves its connection; here it is the test's, with the transaction that is undone."""
    request_started.disconnect(close_old_connections)
    request_finished.disconnect(close_old_connections)
    yield
    request_started.connect(close_old_connections)
    request_finished.connect(close_old_connections)


def header_of(role: str, scene: Scene) -> dict[str, str]:
    people = {"annotator": scene.owner, "expert": scene.judge, "lead": scene.lead}
    if role == "anonymous":
        return {}
    if role == "read_token":
        return {"Authorization": f"Bearer {scene.read_token}"}
    _token, text = issue_token(person=people[role], name="made up", scope=Scope.WRITE, days=1, by=people[role])
    return {"Authorization": f"Bearer {text}"}


def objects_of(scene: Scene) -> dict[tuple[str, str], list[int]]:
    """(method, path) -> the numbers of what exists for it."""
    found: dict[tuple[str, str], list[int]] = {}
    for method, route, kind, _answers in access_table.lines(access_table.API):
        if "<pk>" in route:
            path = f"/{route}".replace("<pk>", "{id}")
            found.setdefault((method, path), []).append(scene.id_of(kind))
    return found


def ask_for_all(role: str, described: Any, examples: int) -> list[str]:
    """Every operation, with as many bodies that fit their description and as many that do not."""
    scene = Scene()
    headers, objects = header_of(role, scene), objects_of(scene)
    api = schemathesis.openapi.from_dict(described)
    api.app = WSGIHandler()
    barred = barred_from(role) if examples < MANY else set()
    faults: list[str] = []
    for found in api.get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]
        if (operation.method.upper(), operation.path) in barred:
            continue
        numbers = objects.get((operation.method.upper(), operation.path), [])
        for mode in GenerationMode:
            cases = operation.as_strategy(generation_mode=mode)
            ask_for_one(cases, itertools.cycle([None, *numbers]), headers, faults, examples)
    return faults


def barred_from(role: str) -> set[tuple[str, str]]:
    """Where the table of access turns the role away whatever is sent: nothing to be held against the schema."""
    column = STANDPOINTS.index({"annotator": "owner", "expert": "judge"}.get(role, role))
    let_in: dict[tuple[str, str], bool] = {}
    for method, route, _kind, answers in access_table.lines(access_table.API):
        key = (method, f"/{route}".replace("<pk>", "{id}"))
        let_in[key] = let_in.get(key, False) or answers[column] in {"ok", "rule"}
    return {key for key, is_in in let_in.items() if not is_in}


def ask_for_one(
    cases: SearchStrategy[Case],
    numbers: Iterator[int | None],
    headers: dict[str, str],
    faults: list[str],
    examples: int,
) -> None:
    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def hold(case: Case) -> None:
        number = next(numbers)
        if number is not None:
            case.path_parameters = {**case.path_parameters, "id": str(number)}
        with undone():
            response = case.call(headers=headers)
        try:
            case.validate_response(response, checks=CHECKS)
        except FailureGroup as error:
            asked = f"{case.method} {case.formatted_path} {case.query} {case.body!r:.300}"
            faults.append(f"{asked}: {response.status_code} {' / '.join(map(str, error.exceptions))}")

    hold()


@pytest.mark.parametrize("role", ["annotator", "lead"])
def test_every_operation_answers_as_it_is_described(role: str, described: Any) -> None:
    faults = ask_for_all(role, described, examples=2)
    assert not faults, f"{len(faults)} faults\n" + "\n".join(faults)


@pytest.mark.bench
@pytest.mark.parametrize("role", ROLES)
def test_every_role_is_answered_as_it_is_described(role: str, described: Any) -> None:
    faults = ask_for_all(role, described, examples=40)
    assert not faults, f"{len(faults)} faults\n" + "\n".join(faults)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"\\u0000"', "Null characters"),
        ('"\\ud800"', "urrogate"),
        ("99999999999999999999999", "64 bits"),
        ("-9223372036854775809", "64 bits"),
    ],
)
def test_what_no_database_can_hold_is_a_fault_of_the_request(text: str, words: str) -> None:
    scene = Scene()
    headers = header_of("lead", scene)
    path = f"/api/v1/models/{scene.id_of('model')}/pause/"
    answer = Client().post(path, f'{{"reason": {text}}}', content_type="application/json", headers=headers)
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "application/problem+json")
    assert words in answer.content.decode()
    huge = Client().get("/api/v1/runs/", {"document": "9" * 30}, headers=headers)
    assert (huge.status_code, list(huge.json()["errors"])) == (400, ["document"])


def test_what_the_table_of_access_lets_in_is_answered_as_it_is_described(described: Any) -> None:
    """Real objects and bodies that are right: the answers that made-up requests seldom reach."""
    scene = Scene()
    bodies = made_up()
    for key, body in said(scene).items():
        bodies[key] = {**bodies.get(key, {}), **body}
    parts = as_json_schema(described["components"])
    clients = {name: client_of(scene.people[name]) for name in ("owner", "judge", "lead")}
    faults = []
    for method, route, kind, answers in access_table.lines(access_table.API):
        path = f"/{route}".replace("<pk>", "{id}")
        let_in = [name for name in clients if answers[STANDPOINTS.index(name)] == "ok"]
        for name in let_in if path in described["paths"] else []:
            body = bodies.get((method, route), {})
            answer: Any = ask(clients[name], method, address(route, scene.objects[kind]), body, is_api=True)
            told = described["paths"][path][method.lower()]["responses"].get(str(answer.status_code))
            if told is None:
                faults.append(f"{method} {path}: {answer.status_code} is not described")
            elif (content := told.get("content", {}).get("application/json")) and answer.status_code < 300:
                shape = {**as_json_schema(content["schema"]), "components": parts}
                wrong = Draft202012Validator(shape).iter_errors(answer.json())
                faults += [f"{method} {path}: {error.json_path} {error.message:.200}" for error in wrong]
    assert not faults, "\n".join(faults)


def as_json_schema(part: Any) -> Any:
    """OpenAPI 3.0 says `nullable` where JSON Schema has a type of its own."""
    if isinstance(part, list):
        return [as_json_schema(item) for item in part]
    if not isinstance(part, dict):
        return part
    shape = {name: as_json_schema(item) for name, item in part.items() if name != "nullable"}
    return {"anyOf": [shape, {"type": "null"}]} if part.get("nullable") is True else shape


def test_a_number_that_is_none_is_the_number_of_nothing() -> None:
    headers = header_of("annotator", Scene())
    body = {"submit": False}
    answer = Client().post("/api/v1/cases/null/review/", body, content_type="application/json", headers=headers)
    assert answer.status_code == 404


def test_a_form_is_held_to_what_a_database_holds_too() -> None:
    scene = Scene()
    form = {"run": "9" * 30, "reason": "again"}
    answer = Client().post("/api/v1/calls/retry/", form, headers=header_of("lead", scene))
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["run"])


def test_every_example_is_a_body_that_its_schema_allows(described: Any) -> None:
    for (method, path), body in EXAMPLES.items():
        content = described["paths"][path][method]["requestBody"]["content"]["application/json"]
        assert content["example"] == body, (method, path)
        Draft202012Validator({**content["schema"], "components": described["components"]}).validate(body)


def test_the_schema_is_made_without_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", os.devnull)
    assert capsys.readouterr().err == ""
