"""What to make next: proposed for the emptiest cells, shown first, made in one step, at most once."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.models import Sample
from annotation.workflow import SampleState
from benchmark.taxonomy import SECONDARY_TASKS, Language
from core.models import BenchmarkSettings, Event
from core.refusals import Invalid, NotAllowed
from documents.models import DocumentVersion
from documents.workflow import VersionState
from leading import actions, planning, queries
from leading.models import CellTarget
from leading.planning import Pair, Wish, make_samples, propose
from tests.factories import make_annotator, make_lead, make_sample, make_version

pytestmark = pytest.mark.django_db

ONE = Wish(200, "English", "8k", "T1.2")


def version_of(domain: str = "law", form: str = "report", **more: Any) -> DocumentVersion:
    version = make_version(**more)
    version.document.domain, version.document.format = domain, form
    version.document.save()
    return version


def only_cells_of_8k() -> None:
    """One sample in each cell of English 8k, and nowhere else any."""
    actions.set_cell_targets(
        targets={cell.key: int(cell.key[1:] == ("English", "8k")) for cell in queries.cells()}, by=make_lead()
    )


@pytest.fixture
def page() -> Client:
    client = Client()
    client.force_login(make_lead())
    return client


def test_the_emptiest_cells_come_first_and_none_gets_its_second_before_its_neighbour_has_one() -> None:
    for _number in range(3):
        make_sample(state=SampleState.ACCEPTED, task_code="T1.1")
    for _number in range(4):
        make_version()
    cells = [one.cell.task.code for one in propose(Wish(200, "English", "8k")).proposals]
    assert "T1.1" not in cells[: 3 * 24]
    assert all(count == 1 for count in map(cells[:24].count, cells[:24]))
    assert cells.count("T1.1") == 2


def test_documents_that_carry_least_are_taken_first_and_none_carries_a_task_twice() -> None:
    used, fresh = version_of(), version_of()
    make_sample(version=used, task_code="T9.1")
    proposed = propose(Wish(3, "English", "8k"))
    assert [one.source.pk for one in proposed.proposals][:2] == [fresh.document_id, used.document_id]
    assert [one.uses for one in proposed.proposals] == [0, 1, 1]
    pairs = [one.pair for one in propose(Wish(200, "English", "8k")).proposals]
    assert len(pairs) == len(set(pairs)) == 2 * len(SECONDARY_TASKS) - 1


def test_a_cell_gets_documents_of_the_domains_and_formats_that_it_has_least_of() -> None:
    for _number in range(3):
        version_of("law", "report")
    rare, other = version_of("medicine", "report"), version_of("law", "table")
    chosen = [one.source for one in propose(ONE).proposals]
    assert chosen[0].domain == "law"
    assert chosen[1].pk == rare.document_id
    assert chosen[2].pk == other.document_id


def test_what_the_cell_holds_already_counts_for_its_balance() -> None:
    make_sample(version=version_of("law"), task_code="T1.2")
    version_of("law")
    other = version_of("news")
    assert propose(ONE).proposals[0].source.pk == other.document_id


@pytest.mark.parametrize("more", [{"state": VersionState.PENDING}, {"state": VersionState.REJECTED}, {"bucket": ""}])
def test_only_approved_documents_of_the_bucket_are_proposed(more: dict[str, Any]) -> None:
    make_version(**more)
    make_version(bucket="16k")
    make_version(language=Language.CHINESE)
    proposed = propose(ONE)
    assert proposed.proposals == []
    (shortage,) = proposed.shortages
    assert (shortage.language, shortage.bucket, shortage.lacking, shortage.documents) == ("English", "8k", 5, 0)


def test_a_pair_that_was_exhausted_comes_last_and_says_so() -> None:
    tried = make_sample(state=SampleState.EXHAUSTED, task_code="T1.2").document_version
    make_sample(version=version_of(), task_code="T9.1")
    (first, last) = propose(ONE).proposals
    assert (first.tried, last.tried) == (False, True)
    assert last.source.pk == tried.document_id


def test_what_is_lacking_adds_up() -> None:
    make_version()
    proposed = propose(Wish(2, "English", "8k"))
    assert len(proposed.proposals) == 2
    assert proposed.unplanned == 5 * len(SECONDARY_TASKS)
    # One document carries each task once: four of five in each cell lack one, and 23 cells wait for the next step.
    assert (proposed.lacking, proposed.beyond) == (4 * 25, 23)


def test_proposing_takes_as_many_queries_for_many_documents_as_for_few(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    make_version()
    propose(Wish())
    with django_assert_num_queries(5):
        propose(Wish())
    for _number in range(5):
        make_sample(version=make_version(), candidates=0)
    with django_assert_num_queries(5):
        propose(Wish())


def test_what_was_proposed_is_made_in_one_step_and_not_a_second_time() -> None:
    lead = make_lead()
    for _number in range(3):
        make_version()
    pairs = [Pair(one.source.pk, one.cell.task.code) for one in propose(Wish(40, "English", "8k")).proposals]
    made = make_samples(pairs=pairs, by=lead)
    assert (len(made.samples), made.left) == (40, [])
    again = make_samples(pairs=pairs, by=lead)
    assert again.samples == []
    assert {one.rule for one in again.left} == {"pair_exists"}
    assert Sample.objects.count() == 40
    assert Event.objects.filter(action="annotation.create", by=lead).count() == 40


def test_a_pair_that_cannot_be_made_any_more_is_left_out_and_says_why() -> None:
    only_cells_of_8k()
    lead, good, gone = make_lead(), make_version(), make_version()
    pairs = [Pair(good.document_id, "T1.1"), Pair(gone.document_id, "T1.2"), Pair(10**6, "T2.1")]
    gone.state = VersionState.REJECTED
    gone.save()
    made = make_samples(pairs=pairs, by=lead)
    assert [sample.document_id for sample in made.samples] == [good.document_id]
    assert [one.rule for one in made.left] == ["document_not_approved", "no_document"]
    # Another lead made one for the same cell meanwhile, from another document.
    late = make_samples(pairs=[Pair(make_version().document_id, "T1.1")], by=make_lead())
    assert [one.rule for one in late.left] == ["cell_full"]


def test_only_leads_plan_and_not_without_a_pair_or_with_too_many() -> None:
    pair = Pair(make_version().document_id, "T1.1")
    with pytest.raises(NotAllowed):
        make_samples(pairs=[pair], by=make_annotator())
    for pairs in ([], [Pair(number, "T1.1") for number in range(1, planning.AT_MOST + 2)]):
        with pytest.raises(Invalid):
            make_samples(pairs=pairs, by=make_lead())


def test_the_page_shows_before_it_makes_and_then_shows_what_drafting_would_take(page: Client) -> None:
    make_version(title="Log of the <b>Heron</b>")
    address = reverse("leading:plan_next")
    shown = page.get(address, {"count": "3", "language": "English"})
    assert "Log of the &lt;b&gt;Heron&lt;/b&gt;" in shown.content.decode()
    pairs = [one.pair for one in shown.context["proposed"].proposals]
    assert len(pairs) == 3
    assert not Sample.objects.exists()
    sent = {"pairs": pairs[:2], "_once": "a-value-of-its-own"}
    answers = [page.post(address, sent) for _time in range(2)]
    assert Sample.objects.count() == 2
    assert len({answer.headers["Location"] for answer in answers}) == 1
    assert answers[0].headers["Location"].startswith(reverse("annotation:samples_draft"))
    assert page.get(answers[0].headers["Location"]).status_code == 200


@pytest.mark.parametrize("pairs", [[], ["x:T1.1"], ["1:T99"], ["²:T1.1"], ["9" * 30 + ":T1.1"]])
def test_a_wrong_pair_is_refused_on_the_page(page: Client, pairs: list[str]) -> None:
    assert page.post(reverse("leading:plan_next"), {"pairs": pairs}).status_code == 400


@pytest.mark.parametrize("query", [{"count": "0"}, {"count": "many"}, {"bucket": "9k"}, {"secondary_task": "T99"}])
def test_a_wrong_wish_is_named_and_nothing_breaks(page: Client, query: dict[str, str]) -> None:
    assert page.get(reverse("leading:plan_next"), query).status_code == 400
    assert page.get("/api/v1/plan/propose/", query).status_code == 400


def test_the_plan_shows_every_measure_and_leads_to_as_many_samples_as_it_says(page: Client) -> None:
    blocked = make_sample(state=SampleState.ACCEPTED)
    blocked.document_version.state = VersionState.REJECTED
    blocked.document_version.save()
    for state in (SampleState.IN_AUDIT, SampleState.IN_AUDIT, SampleState.EXHAUSTED, SampleState.PLANNED):
        make_sample(state=state)
    names = [measure.name for measure, _sum in page.get(reverse("leading:plan")).context["counted"]]
    assert {"held", "accepted", "under_way", "blocked", "in_audit", "exhausted"} <= set(names)
    for name in names:
        context = page.get(reverse("leading:plan"), {"show": name}).context
        squares = [square for row in context["rows"] for part in row.parts for square in part if square.count]
        assert sum(square.count for square in squares) == {m.name: n for m, n in context["counted"]}[name]
        for square in squares:
            listed = page.get(f"{reverse('annotation:sample_list')}?{square.query}")
            assert listed.context["page_obj"].paginator.count == square.count, (name, square.query)


def stood_in(page: Client) -> str:
    """What the fields of the grid hold when it is opened."""
    return ",".join(page.get(reverse("leading:plan"), {"as": "targets"}).context["typed"].stood)


def test_targets_typed_into_the_grid_change_what_was_typed_and_nothing_else(page: Client) -> None:
    address = reverse("leading:plan_targets")
    stood = stood_in(page)
    # Another lead sets the third cell while the grid is open.
    third = queries.cells()[2]
    actions.set_cell_targets(targets={third.key: 9}, by=make_lead())
    typed = stood.split(",")
    typed[0], typed[1] = "3", "0"
    assert page.post(address, {"grid": stood, "target": typed}).status_code == 302
    cells = queries.cells()
    assert [cell.target for cell in cells[:4]] == [3, 0, 9, 5]
    assert Event.objects.filter(action="core.set_cell_targets").count() == 2
    typed = [str(cell.target) for cell in cells]
    typed[0] = ""
    page.post(address, {"grid": ",".join(str(cell.target) for cell in cells), "target": typed})
    assert queries.cells()[0].target == 5
    assert CellTarget.objects.count() == 2


@pytest.mark.parametrize("typed", ["-1", "1.5", "many", "1001", "²"])
def test_a_target_that_is_none_changes_nothing(page: Client, typed: str) -> None:
    address, stood = reverse("leading:plan_targets"), stood_in(page)
    fields = stood.split(",")
    fields[6], fields[7] = "4", typed
    refused = page.post(address, {"grid": stood, "target": fields})
    assert refused.status_code == 400
    # What was typed stays, and the field that is wrong says so.
    assert [field.value for _task, parts in refused.context["fields"] for part in parts for field in part] == fields
    assert refused.content.decode().count('aria-invalid="true"') == 1
    assert page.post(address, {"grid": "5,5", "target": ["3", "5"]}).status_code == 400
    assert not CellTarget.objects.exists()


def test_one_target_for_all_cells_of_a_kind_and_back_to_the_general_figure(page: Client) -> None:
    address = reverse("leading:plan_targets")
    page.post(address, {"bucket": "256k", "target": "2"})
    assert CellTarget.objects.count() == 50
    for wrong in ({"target": ""}, {"target": "3", "general": "on"}, {"target": "-1"}, {"target": "3", "bucket": "9k"}):
        assert page.post(address, wrong).status_code == 400
    assert CellTarget.objects.filter(target=2).count() == CellTarget.objects.count() == 50
    page.post(address, {"bucket": "256k", "language": "Chinese", "general": "on"})
    assert {cell.language for cell in queries.cells() if cell.target == 2} == {"English"}
    settings = BenchmarkSettings.load()
    settings.samples_per_cell = 7
    settings.save()
    assert {cell.target for cell in queries.cells() if cell.language == "Chinese"} == {7}


def test_programs_propose_make_and_set_targets(page: Client) -> None:
    make_version()
    answer = page.get("/api/v1/plan/propose/", {"count": "2", "bucket": "8k", "language": "English"}).json()
    assert (len(answer["proposals"]), answer["to_plan"]) == (2, 125)
    pairs = [{name: one[name] for name in ("document", "secondary_task")} for one in answer["proposals"]]
    body = {"pairs": [*pairs, {"document": 10**6, "secondary_task": "T1.1"}]}
    sent = [
        page.post("/api/v1/plan/make/", body, "application/json", headers={"Idempotency-Key": "k1"}) for _i in range(2)
    ]
    assert [one.status_code for one in sent] == [201, 201]
    assert sent[0].json() == sent[1].json()
    assert sent[0].json()["samples"] == list(Sample.objects.values_list("pk", flat=True))
    assert [one["rule"] for one in sent[0].json()["left_out"]] == ["no_document"]
    told = {"secondary_task": "T1.2", "language": "English", "bucket": "8k", "target": 1}
    assert page.post("/api/v1/plan/target/", told, "application/json").json() == {"changed": 1}
    cell = next(one for one in page.get("/api/v1/plan/").json()["cells"] if one["own_target"])
    assert (cell["target"], cell["bucket"]) == (1, "8k")
    assert page.post("/api/v1/plan/target/", {**told, "target": None}, "application/json").json() == {"changed": 1}
    assert page.post("/api/v1/plan/target/", {**told, "bucket": "9k"}, "application/json").status_code == 400
    assert page.get("/api/v1/plan/propose/", {"mood": "good"}).json()["rule"] == "unknown_filter"


@pytest.mark.parametrize("address", ["/plan/", "/plan/next/", "/progress/", "/progress/work/", "/progress/outcomes/"])
def test_plan_and_progress_are_for_leads(address: str) -> None:
    client = Client()
    client.force_login(make_annotator())
    assert client.get(address).status_code == 403


@pytest.mark.parametrize("path", ["make", "target"])
def test_nobody_but_a_lead_plans_by_a_program(path: str) -> None:
    client = Client()
    client.force_login(make_annotator())
    assert client.post(f"/api/v1/plan/{path}/", {}, "application/json").status_code == 403
    assert client.get("/api/v1/plan/").status_code == 403
