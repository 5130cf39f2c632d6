"""Invariant 5, by a crawl: canaries in one review, every GET route as everybody else. Routes come from the URL conf,
so that a new one is crawled without being named here."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from django.db import transaction
from django.http import StreamingHttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, resolve
from drf_spectacular.generators import SchemaGenerator

from core.models import User
from review import actions
from review import urls as review_urls
from review.api import routes as routes_of_api
from review.models import AnswerReview, ReviewCase
from review.queries import predicted_elements
from tests.factories import make_annotator, make_case, make_expert, make_lead
from tests.review.words import clean_marks

pytestmark = [pytest.mark.once, pytest.mark.django_db]

CANARY = "canary7f3a"
# Values that differ on every rendering: form tokens, one-time keys, times.
ONE_TIME = re.compile(
    r'name="(?:csrfmiddlewaretoken|_once)" value="[^"]*"|"X-CSRFToken": "[^"]*"|X-CSRFToken&quot;: &quot;[^&]*'
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d[^\"<]*|<time[^>]*>[^<]*</time>|Saved \d\d:\d\d"
)
PASSING_HEADERS = {"Set-Cookie", "Expires", "Content-Length"}
# What a lead's empty body would really start, outside the database too.
SLOW = re.compile(r"/(releases|documents/import|documents/batches|import)")
MOST_CHOICES = 12
PARAMETER = re.compile(r"<(?:(?P<converter>\w+):)?(?P<name>\w+)>|\(\?P<(?P<regex_name>\w+)>[^()]*\)")


def routes(patterns: list[Any], prefix: str = "") -> Iterator[str]:
    for entry in patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from routes(entry.url_patterns, route)
        elif isinstance(entry, URLPattern):
            yield route


def paths(ids: dict[str, list[str]]) -> list[str]:
    """Every route with every combination of the ids in question in its places."""
    found: set[str] = set()
    for route in routes(get_resolver().url_patterns):
        names = [match["name"] or match["regex_name"] for match in PARAMETER.finditer(route)]
        for values in product(*[ids.get(name, ids["pk"]) for name in names]):
            filled = iter(values)
            path = PARAMETER.sub(lambda _match, filled=filled: next(filled), route)  # type: ignore[misc]
            path = "/" + re.sub(r"[\^$\\]|\(\?:|\)\??|/\?", lambda match: "/" if match[0] == "/?" else "", path)
            if "logout" not in path and not re.search(r"[(|*+\[]", path):
                found.add(path)
    return sorted(found)


def told_to_a_lead(addresses: list[str]) -> list[str]:
    """Without what is not there for a lead, who sees everything, or takes no GET whatever the number in it."""
    client = Client()
    client.force_login(make_lead())
    return [address for address in addresses if answer_to(client, address)[0] not in {404, 405}]


def crawl(person: User, addresses: list[str]) -> dict[str, tuple[int, str]]:
    client = Client(raise_request_exception=True)
    client.force_login(person)
    seen: dict[str, tuple[int, str]] = {}
    for address in addresses:
        status, _text = seen[f"page {address}"] = answer_to(client, address)
        # A page that is not there has no part of its own, and the API knows no parts.
        if status == 200 and not address.startswith("/api/"):
            seen[f"fragment {address}"] = answer_to(client, address, **{"HX-Request": "true"})
    return seen


def answer_to(client: Client, address: str, **headers: str) -> tuple[int, str]:
    answer = client.get(address, headers=headers)
    assert answer.status_code < 500, address
    body = (
        b"".join(answer.streaming_content)
        if isinstance(answer, StreamingHttpResponse) and not answer.is_async
        else answer.content
    )
    # The length follows words such as "just now" and "1 min"; the body itself is compared.
    kept = {name: value for name, value in answer.headers.items() if name not in PASSING_HEADERS}
    text = body.decode("utf-8", "replace") + repr(sorted(kept.items()))
    return answer.status_code, ONE_TIME.sub("…", text)


def canaries(case: ReviewCase) -> dict[str, Any]:
    content = clean_marks(case)
    content["marks"][0] = {"mark": "incorrect", "note": f"{CANARY} on a mark"}
    content["recall"][0] = {**content["recall"][0], "mark": "missing", "note": f"{CANARY} on a prediction"}
    return {
        **content,
        "additions": [f"{CANARY} added"],
        "issues": [{"kind": "question", "note": f"{CANARY} as an issue"}],
    }


@pytest.fixture
def case() -> ReviewCase:
    case = make_case()
    assert predicted_elements(case)
    return case


def everywhere(case: ReviewCase, *reviews: AnswerReview, after: int | None = None) -> list[str]:
    numbers = {str(pk) for pk in (case.pk, case.sample_id, after, *(review.pk for review in reviews)) if pk}
    numbers |= {str(case.sample.document_id), str(case.standardization.document_version_id)}
    if case.prediction_run_id:
        numbers.add(str(case.prediction_run_id))
    given = sorted({str(review.pk) for review in reviews} | ({str(after)} if after else set())) or ["1"]
    return paths({"pk": sorted(numbers), "review": given, "format": ["json"], "version": ["1"]})


def test_the_crawl_reaches_the_pages_and_the_api_of_a_case(case: ReviewCase) -> None:
    found = everywhere(case)
    for address in (
        "/reviews/",
        f"/cases/{case.pk}/review/",
        f"/cases/{case.pk}/adjudicate/",
        "/quality/",
        "/api/v1/cases/",
        f"/api/v1/cases/{case.pk}/review/",
        f"/api/v1/reviews/{case.pk}/",
    ):
        assert address in found


def test_every_page_and_operation_of_this_stage_is_in_the_crawl_by_itself(case: ReviewCase) -> None:
    """A route that is added tomorrow is crawled without being named here."""
    found = {resolve(address).view_name for address in everywhere(case)}
    assert {f"review:{pattern.name}" for pattern in review_urls.urlpatterns} <= found
    operations = {f"{name}-{made.url_name}" for _prefix, viewset, name in routes_of_api for made in actions_of(viewset)}
    assert operations <= found


def actions_of(viewset: Any) -> list[Any]:
    return list(viewset.get_extra_actions())


class People:
    """Everybody who may learn nothing. `bound` were something to the sample before the other sat down, so that not
    even a taken seat may show; the outsiders are offered the seat until it is taken."""

    def __init__(self, case: ReviewCase) -> None:
        self.other = make_annotator()
        held = {part.job: part.person for part in case.sample.participations.all()}
        self.bound = [self.other, held["verifies"], held["judges"]]
        self.outsiders = [make_annotator(), make_expert()]


@pytest.mark.parametrize(
    "a_has_submitted", [pytest.param(False, marks=pytest.mark.once), pytest.param(True, marks=pytest.mark.postgres)]
)
def test_nothing_anybody_is_served_depends_on_a_review_not_their_own(
    case: ReviewCase, a_has_submitted: bool, mailoutbox: list[Any]
) -> None:
    """T-27."""
    people, b = People(case), make_annotator()
    mine = actions.take_seat(case=case, by=people.other)
    mine = actions.save_review(review=mine, version=mine.version, by=people.other, **clean_marks(case))
    if a_has_submitted:
        actions.submit_review(review=mine, version=mine.version, by=people.other)
    # The number of the review that is still to come is crawled as well.
    addresses = told_to_a_lead(everywhere(case, mine, after=mine.pk + 1))
    before = {person.pk: crawl(person, addresses) for person in people.bound}
    theirs = actions.take_seat(case=case, by=b)
    assert theirs.pk == mine.pk + 1
    before |= {person.pk: crawl(person, addresses) for person in people.outsiders}
    assert f"/cases/{case.pk}/review/" in addresses

    theirs = actions.save_review(review=theirs, version=theirs.version, by=b, **canaries(case))
    if not a_has_submitted:
        # With both in the case is decided; until then every word of B's is B's own.
        actions.submit_review(review=theirs, version=theirs.version, by=b)

    for person in [*people.bound, *people.outsiders]:
        after = crawl(person, addresses)
        for address, served in after.items():
            assert CANARY not in served[1], (person.role, address)
            # Sign-in pages make secrets of their own on every rendering.
            if " /account/" not in address:
                assert served == before[person.pk][address], (person.role, address)
    assert mailoutbox == []


@pytest.mark.once
@pytest.mark.bench
def test_no_list_can_be_asked_for_what_another_review_says(case: ReviewCase) -> None:
    """Every filter, ordering and page of every list of the API, from its own description."""
    people, b = People(case), make_annotator()
    mine = actions.take_seat(case=case, by=people.other)
    theirs = actions.take_seat(case=case, by=b)
    numbers = [case.pk, case.sample_id, theirs.pk, b.pk]
    addresses = filtered(numbers)
    assert f"/api/v1/reviews/?case={case.pk}" in addresses
    assert any("ordering" in address or "state=submitted" in address for address in addresses)
    everybody = [people.other, *people.outsiders]
    before = {person.pk: ask(person, "get", readable_to(person, addresses)) for person in everybody}
    theirs = actions.save_review(review=theirs, version=theirs.version, by=b, **canaries(case))
    actions.submit_review(review=theirs, version=theirs.version, by=b)
    for person in everybody:
        assert ask(person, "get", list(before[person.pk])) == before[person.pk]
    assert mine.case == case


def readable_to(person: User, addresses: list[str]) -> list[str]:
    """Without the lists that this person is refused, whatever is asked of them."""
    lists = sorted({address.partition("?")[0] for address in addresses})
    refused = {path for path, (status, _text) in ask(person, "get", lists).items() if status == 403}
    return [address for address in addresses if address.partition("?")[0] not in refused]


def filtered(numbers: list[int]) -> list[str]:
    """Every list with each of its parameters, one at a time: all choices, both truths, the numbers in question."""
    schema: Any = SchemaGenerator().get_schema(request=None, public=True)
    found = []
    for path, operations in schema["paths"].items():
        if "{" in path or "get" not in operations:
            continue
        for parameter in operations["get"].get("parameters", []):
            if parameter["in"] == "query":
                kind = parameter["schema"]
                numbered: dict[str, list[Any]] = {"integer": numbers, "boolean": ["true", "false"]}
                words = ["submitted", *numbers, "-found_issue", "submitted_at"]
                # Of a long list of choices, such as the tasks, a few stand for all.
                values = (kind.get("enum") or numbered.get(kind.get("type", ""), words))[:MOST_CHOICES]
                found += [f"{path}?{parameter['name']}={value}" for value in values]
    return found


def ask(person: User, method: str, addresses: list[str]) -> dict[str, tuple[int, str]]:
    """The answers; whatever an operation does is undone."""
    client = Client()
    client.force_login(person)
    seen = {}
    for address in addresses:
        with transaction.atomic():
            answer = getattr(client, method)(address)
            text = "" if answer.streaming else answer.content.decode("utf-8", "replace")
            kept = {name: value for name, value in answer.headers.items() if name not in PASSING_HEADERS}
            seen[address] = (answer.status_code, ONE_TIME.sub("…", text + repr(sorted(kept.items()))))
            transaction.set_rollback(True)
        assert answer.status_code < 500, (method, address)
        assert CANARY not in seen[address][1], (person.role, method, address)
    return seen


@pytest.mark.once
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_no_operation_answers_differently_for_what_another_review_says(case: ReviewCase, method: str) -> None:
    """Every route, by every method that writes, as everybody else: refusals, errors and effects tell nothing."""
    people, b = People(case), make_annotator()
    actions.take_seat(case=case, by=people.other)
    theirs = actions.take_seat(case=case, by=b)
    addresses = [address for address in everywhere(case, theirs) if "/account" not in address]
    lead = ask(make_lead(), method, [address for address in addresses if not SLOW.search(address)])
    alive = [address for address, (status, _text) in lead.items() if status not in {403, 404, 405}]
    if method == "post":
        assert f"/api/v1/cases/{case.pk}/review/" in addresses
        alive += [address for address in addresses if "/cases/" in address and address not in alive]
    everybody = [people.other, *people.outsiders]
    before = {person.pk: ask(person, method, alive) for person in everybody}
    theirs = actions.save_review(review=theirs, version=theirs.version, by=b, **canaries(case))
    actions.submit_review(review=theirs, version=theirs.version, by=b)
    for person in everybody:
        after = ask(person, method, alive)
        for address, served in after.items():
            assert served == before[person.pk][address], (person.role, method, address)


def test_the_canaries_are_found_where_they_may_be(case: ReviewCase) -> None:
    b = make_annotator()
    theirs = actions.take_seat(case=case, by=b)
    actions.save_review(review=theirs, version=theirs.version, by=b, **canaries(case))
    served = crawl(b, everywhere(case, theirs))
    assert CANARY in served[f"page /cases/{case.pk}/review/"][1]
    assert CANARY in served[f"page /api/v1/reviews/{theirs.pk}/"][1]


def test_the_refusal_of_a_post_tells_nothing_of_the_other_review(case: ReviewCase) -> None:
    a, b, third = make_annotator(), make_annotator(), make_annotator()
    mine = actions.take_seat(case=case, by=a)
    theirs = actions.take_seat(case=case, by=b)
    client, outsider = Client(), Client()
    client.force_login(a)
    outsider.force_login(third)

    def refusals() -> list[tuple[int, str]]:
        answers = [
            client.post(f"/cases/{case.pk}/review/", {"version": mine.version, "do": "submit"}),
            client.post(f"/api/v1/cases/{case.pk}/review/", {"submit": True}, content_type="application/json"),
            client.post(f"/cases/{case.pk}/adjudicate/", {"decision": "no_issue"}),
            outsider.post(f"/cases/{case.pk}/begin/"),
            outsider.post(f"/cases/{case.pk}/take/"),
            outsider.post(f"/api/v1/cases/{case.pk}/review/", {}, content_type="application/json"),
        ]
        return [(answer.status_code, ONE_TIME.sub("…", answer.content.decode())) for answer in answers]

    before = refusals()
    theirs = actions.save_review(review=theirs, version=theirs.version, by=b, **canaries(case))
    actions.submit_review(review=theirs, version=theirs.version, by=b)
    assert refusals() == before
