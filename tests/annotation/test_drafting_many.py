"""Many samples to drafting: the estimate first, started once however often somebody presses, and stopped at no cost."""

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation import actions, drafting, tasks
from annotation.costing import plan_of
from annotation.models import DraftingBatch, DraftingLine, Sample
from annotation.queries import samples
from annotation.workflow import DraftingOutcome, SampleState
from core.models import User
from core.refusals import Conflict, NotAllowed, RuleBroken
from documents.models import DocumentVersion
from documents.workflow import VersionState
from generation.models import Call, LanguageModel, Run, Spending
from generation.panels import ensure_panel
from leading import jobs
from leading.tasks import ROUND
from tests.factories import make_annotator, make_lead, make_model, make_version

pytestmark = pytest.mark.django_db

TASKS = ("T1.1", "T1.2", "T2.1", "T3.1", "T3.2")


@pytest.fixture
def lead() -> User:
    return make_lead()


@pytest.fixture
def page(client: Client, lead: User) -> Client:
    client.force_login(lead)
    return client


def planned(lead: User, count: int = 3) -> list[Sample]:
    document = make_version().document
    return [actions.create_sample(document=document, task_code=code, by=lead) for code in TASKS[:count]]


def priced_panel(settings: Any) -> None:
    settings.LBP_PANEL = "real"
    for name, usd in (("alpha", 1), ("beta", 2)):
        make_model(name, panel="real", litellm_id=f"openai/{name}", usd_per_million_input=usd, usd_per_million_output=8)


def words(response: Any) -> str:
    return " ".join(response.content.decode().split())


def outcomes(batch: DraftingBatch) -> list[str]:
    return list(batch.lines.values_list("outcome", flat=True))


# --- the estimate ----------------------------------------------------------------------------------------------------


def test_the_plan_counts_calls_tokens_and_dollars_for_each_model(lead: User, settings: Any) -> None:
    priced_panel(settings)
    planned(lead, 3)
    plan = plan_of(samples())
    assert (plan.calls, len(plan.samples), plan.left) == (6, 3, [])
    alpha, beta = plan.models
    assert alpha.calls == beta.calls == 3
    assert alpha.usd is not None
    assert beta.usd is not None
    assert beta.usd > alpha.usd > 0
    assert plan.usd == alpha.usd + beta.usd
    assert alpha.tokens_in > 3 * 8192
    assert Call.objects.count() == 0


def test_the_plan_takes_as_many_queries_for_many_samples_as_for_few(
    lead: User, settings: Any, django_assert_num_queries: Any, django_assert_max_num_queries: Any
) -> None:
    priced_panel(settings)
    planned(lead, 1)
    with django_assert_max_num_queries(6) as few:
        plan_of(samples())
    planned(lead, 5)
    with django_assert_num_queries(len(few)):
        plan_of(samples())


def test_what_cannot_be_drafted_is_named_with_the_reason(page: Client, lead: User) -> None:
    ensure_panel("demo")
    ready, moved, blocked, waiting = planned(lead, 4)
    Sample.objects.filter(pk=moved.pk).update(state=SampleState.IN_VERIFICATION)
    other = actions.create_sample(document=make_version().document, task_code="T1.1", by=lead)
    DocumentVersion.objects.filter(pk=other.document_version_id).update(state=VersionState.REJECTED)
    DraftingLine.objects.create(batch=DraftingBatch.objects.create(made_by=lead), sample=waiting)
    shown = page.get(reverse("annotation:samples_draft"), {"ids": [one.pk for one in (ready, moved, waiting, other)]})
    assert [sample.pk for sample in shown.context["plan"].samples] == [ready.pk]
    text = words(shown)
    for why in ("It is not planned any more", "The document is not approved.", "waits in a drafting batch already"):
        assert why in text
    assert blocked.label not in text


def test_a_model_without_a_price_stops_the_start_and_is_named(page: Client, lead: User, settings: Any) -> None:
    priced_panel(settings)
    LanguageModel.objects.filter(name="beta").update(usd_per_million_output=None)
    planned(lead)
    shown = words(page.get(reverse("annotation:samples_draft"), {"all": 1}))
    assert "No price: beta." in shown
    assert "Draft 3 samples" not in shown
    assert "+ 3 of unknown cost" in shown
    batch = actions.draft_samples(samples=samples(), by=lead)
    drafting.start_waiting(batch.pk)
    assert set(batch.lines.values_list("outcome", "rule")) == {(DraftingOutcome.REFUSED, "unknown_price")}
    assert (Call.objects.count(), batch.expected_usd) == (0, None)


def test_the_page_warns_of_a_budget_that_is_too_small_and_of_paused_models(
    page: Client, lead: User, settings: Any
) -> None:
    priced_panel(settings)
    planned(lead)
    LanguageModel.objects.filter(name="beta").update(paused_at=lead.date_joined)
    Spending.objects.update_or_create(pk=1, defaults={"budget_usd": Decimal("0.01")})
    text = words(page.get(reverse("annotation:samples_draft"), {"all": 1}))
    assert "expected to cost more than what is left of the budget" in text
    assert "Paused: beta." in text
    Spending.objects.update(spent_usd=1)
    assert "these calls would not be sent" in words(page.get(reverse("annotation:samples_draft"), {"all": 1}))


# --- starting --------------------------------------------------------------------------------------------------------


def test_pressing_twice_starts_each_sample_once(page: Client, lead: User) -> None:
    ensure_panel("demo")
    ids = [sample.pk for sample in planned(lead)]
    address = reverse("annotation:samples_draft")
    first = page.post(address, {"ids": ids})
    assert first.status_code == 302
    second = page.post(address, {"ids": ids})
    assert second.status_code == 400
    assert "None of these samples can be drafted now." in words(second)
    batch = DraftingBatch.objects.get()
    assert drafting.start_waiting(batch.pk) == 3
    assert drafting.start_waiting(batch.pk) == 0
    assert (Run.objects.count(), Call.objects.count()) == (3, 15)
    assert page.post(address, {"ids": ids}).status_code == 400
    batch.refresh_from_db()
    assert batch.finished_at is not None


def test_all_that_fit_the_filters_go_and_nothing_else(page: Client, lead: User) -> None:
    ensure_panel("demo")
    planned(lead)
    page.post(reverse("annotation:samples_draft"), {"all": 1, "secondary_task": "T1.2", "run_budget_usd": "0.5"})
    batch = DraftingBatch.objects.get()
    assert [line.sample.task_code for line in batch.lines.all()] == ["T1.2"]
    tasks.start_drafting_batch(batch.pk)
    assert Run.objects.get().budget_usd == Decimal("0.5")


def test_the_request_that_starts_many_makes_no_run_itself(page: Client, lead: User) -> None:
    ensure_panel("demo")
    planned(lead)
    page.post(reverse("annotation:samples_draft"), {"all": 1})
    assert (Run.objects.count(), set(Sample.objects.values_list("state", flat=True))) == (0, {SampleState.PLANNED})


def test_one_sample_that_is_refused_or_fails_holds_up_no_other(lead: User, monkeypatch: pytest.MonkeyPatch) -> None:
    ensure_panel("demo")
    first, second, third = planned(lead)
    batch = actions.draft_samples(samples=samples(), by=lead)
    Sample.objects.filter(pk=first.pk).update(state=SampleState.EXHAUSTED)
    draft = drafting.draft_sample

    def stumbling(*, sample: Sample, **more: Any) -> Sample:
        if sample.pk == second.pk:
            raise ZeroDivisionError
        return draft(sample=sample, **more)

    monkeypatch.setattr(drafting, "draft_sample", stumbling)
    drafting.start_waiting(batch.pk)
    found = {line.sample_id: (line.outcome, line.rule) for line in batch.lines.all()}
    assert found[first.pk] == (DraftingOutcome.REFUSED, "state_moved")
    assert found[second.pk] == (DraftingOutcome.REFUSED, "fault")
    assert found[third.pk] == (DraftingOutcome.STARTED, "")


def test_a_batch_whose_worker_died_goes_on_where_it_stood(lead: User, monkeypatch: pytest.MonkeyPatch) -> None:
    ensure_panel("demo")
    planned(lead)
    batch = actions.draft_samples(samples=samples(), by=lead)
    draft, begun = drafting.draft_sample, []

    def killed(*, sample: Sample, **more: Any) -> Sample:
        begun.append(sample.pk)
        drafted = draft(sample=sample, **more)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return drafted

    monkeypatch.setattr(drafting, "draft_sample", killed)
    with pytest.raises(KeyboardInterrupt):
        drafting.start_waiting(batch.pk)
    assert (outcomes(batch).count(DraftingOutcome.WAITING), Run.objects.count()) == (2, 1)
    monkeypatch.setattr(drafting, "draft_sample", draft)
    assert drafting.unfinished_batches() == [batch.pk]
    assert tasks.take_up_drafting in ROUND
    jobs.one_round()
    assert outcomes(batch) == [DraftingOutcome.STARTED] * 3
    assert (Run.objects.count(), drafting.unfinished_batches()) == (3, [])


def test_what_waits_can_be_stopped_and_what_was_started_stays(page: Client, lead: User) -> None:
    ensure_panel("demo")
    first = planned(lead)[0]
    batch = actions.draft_samples(samples=samples(), by=lead)
    drafting._start_line(batch.lines.get(sample=first).pk, batch)
    assert page.post(reverse("annotation:drafting_cancel", args=[batch.pk])).status_code == 302
    assert sorted(outcomes(batch)) == [DraftingOutcome.CANCELLED, DraftingOutcome.CANCELLED, DraftingOutcome.STARTED]
    assert drafting.start_waiting(batch.pk) == 0
    with pytest.raises(Conflict):
        actions.cancel_drafting(batch=batch, by=lead)
    assert Sample.objects.filter(state=SampleState.PLANNED).count() == 2
    assert actions.draft_samples(samples=samples(), by=lead).lines.count() == 2


def test_only_a_lead_drafts_many(client: Client, lead: User) -> None:
    ensure_panel("demo")
    person, chosen = make_annotator(), planned(lead)
    with pytest.raises(NotAllowed):
        actions.draft_samples(samples=chosen, by=person)
    with pytest.raises(RuleBroken):
        actions.draft_samples(samples=samples().none(), by=lead)
    client.force_login(person)
    for name in ("samples_draft", "drafting_list"):
        assert client.get(reverse(f"annotation:{name}")).status_code == 403
    assert client.post("/api/v1/samples/draft/", {"samples": [1]}, "application/json").status_code == 403
    assert client.get("/api/v1/draftings/").status_code == 403
    assert b"data-choose" not in client.get(reverse("annotation:sample_list")).content


# --- pages and API ---------------------------------------------------------------------------------------------------


def test_the_batchs_page_shows_how_far_it_is_and_renews_itself_until_all_calls_have_ended(
    page: Client, lead: User, django_assert_max_num_queries: Any
) -> None:
    ensure_panel("demo")
    planned(lead)
    batch = actions.draft_samples(samples=samples(), by=lead)
    address = reverse("annotation:drafting_detail", args=[batch.pk])
    assert "every 3s" in words(page.get(address))
    drafting.start_waiting(batch.pk)
    with django_assert_max_num_queries(12):
        under_way = words(page.get(address))
    assert "0/15" in under_way
    jobs.work_off()
    ended = page.get(address)
    assert "15/15" in words(ended)
    assert "every 3s" not in words(ended)
    assert words(page.get(address, headers={"HX-Request": "true"})).startswith('<div id="batch"')
    assert "No sample with this outcome" in words(page.get(address, {"outcome": "refused"}))
    assert f"DB-{batch.pk}" in words(page.get(reverse("annotation:drafting_list")))


def test_the_list_offers_what_is_planned_and_the_sample_shows_what_would_be_sent(page: Client, lead: User) -> None:
    ensure_panel("demo")
    sample = planned(lead, 2)[0]
    text = words(page.get(reverse("annotation:sample_list"), {"state": "planned"}))
    assert text.count('name="ids"') == 2
    assert "all=1&amp;state=planned" in text
    detail = words(page.get(reverse("annotation:sample_detail", args=[sample.pk])))
    assert f"{reverse('generation:run_preview')}?version={sample.document_version_id}" in detail
    assert f"{reverse('generation:run_list')}?document={sample.document_id}" in detail


def test_programs_estimate_and_draft_many_under_the_same_rules(page: Client, lead: User) -> None:
    ensure_panel("demo")
    ids = [sample.pk for sample in planned(lead)]
    plan = page.post("/api/v1/samples/estimate/", {"samples": ids}, "application/json").json()
    assert (plan["calls"], sorted(plan["samples"]), len(plan["models"])) == (15, ids, 5)
    begun = page.post("/api/v1/samples/draft/", {"samples": ids, "run_budget_usd": "1"}, "application/json")
    assert (begun.status_code, begun.json()["waiting"]) == (202, 3)
    again = page.post("/api/v1/samples/draft/", {"samples": ids}, "application/json")
    assert (again.status_code, again.json()["rule"]) == (422, "nothing_to_draft")
    batch = begun.json()["id"]
    drafting.start_waiting(batch)
    shown = page.get(f"/api/v1/draftings/{batch}/").json()
    assert (shown["started"], [line["outcome"] for line in shown["lines"]]) == (3, ["started"] * 3)
    assert page.post(f"/api/v1/draftings/{batch}/cancel/").status_code == 409
    assert page.get("/api/v1/draftings/").json()["count"] == 1
