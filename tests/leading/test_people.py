"""People: added by a lead or the operator, never by themselves."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.models import Claim
from benchmark.taxonomy import secondary_task
from core.history import history_of
from core.models import ApiToken, Event, User
from core.refusals import Invalid, NotAllowed
from core.workflow import Role
from leading import actions
from tests.factories import make_annotator, make_claim, make_lead, make_sample
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db


def test_a_lead_adds_a_person_who_can_sign_in_with_the_printed_password() -> None:
    person, password = actions.add_person(name="mei", role=Role.EXPERT, by=make_lead(), email="mei@example.org")
    assert Client().login(username="mei", password=password)
    assert Event.objects.get(action="core.add_person").subject_id == person.pk
    assert password not in str(Event.objects.values_list("data", "reason"))


def test_only_a_lead_adds_people() -> None:
    with pytest.raises(NotAllowed):
        actions.add_person(name="mei", role=Role.ANNOTATOR, by=make_annotator())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "two words"),
        ("name", ""),
        ("name", "a@b"),
        ("role", "owner"),
        ("email", "nowhere"),
        ("password", "12345"),
    ],
)
def test_a_wrong_field_is_named_and_nobody_is_added(field: str, value: str) -> None:
    before = User.objects.count()
    with pytest.raises(Invalid) as refused:
        actions.add_person(by=None, **{"name": "mei", "role": str(Role.ANNOTATOR), field: value})
    assert list(refused.value.errors) == [field]
    assert User.objects.count() == before


def test_a_taken_name_is_refused_whatever_its_case() -> None:
    make_annotator("mei")
    with pytest.raises(Invalid, match="taken"):
        actions.add_person(name="Mei", role=Role.ANNOTATOR, by=None)


def test_the_page_keeps_what_was_typed_and_says_what_is_wrong_at_the_field() -> None:
    make_annotator("mei")
    client = client_of(make_lead())
    response = client.post(reverse("leading:people"), {"name": "mei", "full_name": "Mei Lin", "role": "expert"})
    assert response.status_code == 400
    text = response.content.decode()
    assert "is taken" in text
    assert 'value="Mei Lin"' in text


def test_the_page_is_for_leads() -> None:
    assert client_of(make_annotator()).get(reverse("leading:people")).status_code == 403


def test_deactivation_ends_sessions_and_claims_and_keeps_the_work() -> None:
    person, lead = make_annotator(), make_lead()
    claim = make_claim(make_sample(), person)
    client = client_of(person)
    actions.set_active(person=person, active=False, by=lead)
    assert client.get("/").status_code == 302
    assert Claim.objects.get(pk=claim.pk).ended_how == "released"
    last = history_of(claim.sample).last()
    assert last is not None
    assert (last.action, last.by, last.reason) == ("annotation.end_claim", lead, "The account was deactivated.")


def test_nobody_changes_their_own_role_or_deactivates_themselves() -> None:
    lead = make_lead()
    with pytest.raises(Invalid):
        actions.change_role(person=lead, role=Role.ANNOTATOR, by=lead)
    with pytest.raises(Invalid):
        actions.set_active(person=lead, active=False, by=lead)


def test_add_person_prints_the_password_once() -> None:
    out = StringIO()
    call_command("add_person", "wei", "--role", "lead", stdout=out)
    password = out.getvalue().split(": ")[-1].strip()
    assert Client().login(username="wei", password=password)
    with pytest.raises(CommandError, match="taken"):
        call_command("add_person", "wei", "--role", "lead")


def test_create_token_prints_a_token_that_opens_the_api_within_its_scope() -> None:
    lead, out = make_lead(), StringIO()
    call_command("create_token", lead.username, "--scope", "read", "--days", "2", stdout=out)
    token = out.getvalue().strip()
    headers = {"Authorization": f"Bearer {token}"}
    assert Client().get("/api/v1/progress/", headers=headers).status_code == 200
    refused = Client().post(
        "/api/v1/people/", {"name": "x", "role": "lead"}, content_type="application/json", headers=headers
    )
    assert refused.status_code == 403
    assert token not in ApiToken.objects.get().digest


def test_create_token_refuses_an_unknown_person() -> None:
    with pytest.raises(CommandError, match="nobody"):
        call_command("create_token", "nobody")


def test_the_api_adds_a_person_and_answers_the_password_once() -> None:
    client = client_of(make_lead())
    response = client.post("/api/v1/people/", {"name": "mei", "role": "annotator"}, content_type="application/json")
    assert response.status_code == 201
    assert Client().login(username="mei", password=response.json()["password"])
    again = client.post("/api/v1/people/", {"name": "mei", "role": "annotator"}, content_type="application/json")
    assert again.status_code == 400
    assert again.headers["Content-Type"] == "application/problem+json"
    assert "name" in again.json()["errors"]


# What people work on -------------------------------------------------------------------------------------------------


def test_a_lead_says_of_which_languages_and_tasks_a_person_is_offered_samples() -> None:
    person, client = make_annotator(), client_of(make_lead())
    address = reverse("leading:person_work", args=[person.pk])
    assert client.post(address, {"languages": ["Chinese"], "tasks": ["T2.1", "T1.2"]}).status_code == 302
    person.refresh_from_db()
    assert (person.work_languages, person.work_tasks) == (["Chinese"], ["T1.2", "T2.1"])
    assert "2 tasks" in client.get(reverse("leading:people")).content.decode()
    assert Event.objects.get(action="core.change_work").subject_id == person.pk
    refused = client.post(address, {"tasks": ["T99.9"]})
    assert refused.status_code == 400
    assert client.post(address, {}).status_code == 302
    person.refresh_from_db()
    assert (person.work_languages, person.work_tasks) == ([], [])


def test_the_work_of_people_is_a_leads_to_say_by_the_api_and_the_command_too() -> None:
    person, program = make_annotator(), APIClient()
    address = f"/api/v1/people/{person.pk}/work/"
    program.force_authenticate(make_annotator())
    assert program.post(address, {"languages": ["English"]}, format="json").status_code == 403
    program.force_authenticate(make_lead())
    body = {"languages": ["English"], "tasks": [secondary_task("T2.1").name]}
    answer = program.post(address, body, format="json")
    assert (answer.json()["languages"], answer.json()["tasks"]) == (["English"], ["T2.1"])
    for wrong in ({"languages": ["Latin"]}, {"tasks": ["T0"]}):
        assert program.post(address, wrong, format="json").status_code == 400
    call_command(
        "add_person", "lin", "--role", "annotator", "--languages", "Chinese", "--tasks", "T1.1", stdout=StringIO()
    )
    lin = User.objects.get(username="lin")
    assert (lin.work_languages, lin.work_tasks) == (["Chinese"], ["T1.1"])
