"""Who gets in where: every address and every method, asked as everybody, held against a table written down by hand.
The addresses come from the URL conf, so that a new one without a line in the table fails."""

from collections.abc import Iterator

import pytest
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from tests.leading import access_table
from tests.leading.access_bodies import described, said
from tests.leading.access_scene import STANDPOINTS, Route, Scene, address, routes
from tests.leading.access_walking import ask, client_of, undone, word_of

pytestmark = pytest.mark.django_db

TABLES = {"pages": access_table.PAGES, "api": access_table.API}
ROUTES = {"pages": [one for one in routes() if not one.is_api], "api": [one for one in routes() if one.is_api]}
# The root of the site has an empty route, which is no word.
ROOT = "/"


def route_named(path: str) -> str:
    return path or ROOT


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    """The schema is made once here, for the bodies; the address that serves it need not make it six times more."""
    made = Scene()
    made.bodies = described()
    for key, body in said(made).items():
        made.bodies[key] = {**made.bodies.get(key, {}), **body}
    monkeypatch.setattr(SchemaGenerator, "get_schema", lambda *args, **kwargs: {})
    return made


@pytest.mark.parametrize("part", TABLES)
def test_every_address_and_method_answers_everybody_as_the_table_says(part: str, scene: Scene) -> None:
    clients = {name: client_of(person) for name, person in scene.people.items()}
    differing = []
    for method, route, kind, expected in access_table.lines(TABLES[part]):
        path = "" if route == ROOT else route
        where = address(path, {"part": "question", **scene.objects[kind]})
        body = scene.bodies.get((method, path), {})
        seen = tuple(word_of(ask(clients[name], method, where, body, is_api=part == "api")) for name in STANDPOINTS)
        if seen != expected:
            differing.append(f"{method:6} {route} {kind} {' '.join(seen)}   # the table: {' '.join(expected)}")
    assert not differing, "these answer otherwise:\n" + "\n".join(differing)


@pytest.mark.parametrize("part", TABLES)
def test_every_address_and_method_has_a_line(part: str, scene: Scene) -> None:
    """A page says only when it is asked which methods it takes: what the table leaves out must be refused as such."""
    known = {(method, route) for method, route, _kind, _answers in access_table.lines(TABLES[part])}
    assert {route for _method, route in known} <= {route_named(one.path) for one in ROUTES[part]}, "no such address"
    missing = [one for route in ROUTES[part] for one in _missing(route, known, scene)]
    assert not missing, "judge these and add a line each to tests/leading/access_table.py:\n" + "\n".join(missing)


def _missing(route: Route, known: set[tuple[str, str]], scene: Scene) -> Iterator[str]:
    name = route_named(route.path)
    for method in route.methods or ("GET", "POST"):
        if (method, name) in known:
            continue
        if route.methods is None:
            ids = dict.fromkeys(("pk", "review"), 1) | {"version": "1", "part": "question"}
            with undone():
                answer = ask(client_of(scene.lead), method, address(route.path, ids), {}, is_api=False)
            if answer.status_code == 405:
                continue
        yield f"{method:6} {name}"


def test_a_token_that_may_only_read_is_refused_wherever_something_is_written(scene: Scene) -> None:
    """Not by what each operation asks for, but before any of them: a lead's own token, at every address of the API."""
    client = APIClient(raise_request_exception=False)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {scene.read_token}")
    for method, route, kind, answers in access_table.lines(access_table.API):
        path = address(route, scene.objects[kind])
        with undone():
            answer = client.generic(method, path, "{}", content_type="application/json")
        expected = answers[STANDPOINTS.index("lead")] if method == "GET" else "403"
        assert (method, path, word_of(answer)) == (method, path, expected)


def test_a_token_opens_no_page_and_a_wrong_one_nothing(scene: Scene) -> None:
    token, wrong = {"HTTP_AUTHORIZATION": f"Bearer {scene.read_token}"}, {"HTTP_AUTHORIZATION": "Bearer lbp_wrong"}
    client = APIClient(raise_request_exception=False)
    assert word_of(client.get("/people/", **token)) == "login"  # type: ignore[arg-type]
    assert word_of(client.get("/api/v1/people/", **token)) == "ok"  # type: ignore[arg-type]
    assert word_of(client.get("/api/v1/people/", **wrong)) == "401"  # type: ignore[arg-type]
