"""One-time links: an invitation becomes an account, a reset link a new password, and no link opens twice."""

import logging
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation
from rest_framework.test import APIClient

from benchmark.taxonomy import secondary_task
from core.models import Event, IdempotencyKey, User
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from core.workflow import Role
from leading import actions, inviting
from leading.models import Invitation, ResetLink
from tests.factories import make_annotator, make_expert, make_lead
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db
PASSWORD = "a long pass phrase"
CHOSEN = {"name": "mei", "full_name": "Mei Lin", "password": PASSWORD, "again": PASSWORD}


def address(token: str, name: str = "invitation_open") -> str:
    return reverse(f"leading:{name}", args=[token])


def link_in(html: str) -> str:
    found = re.search(r'id="link" readonly value="([^"]+)"', html)
    assert found is not None
    return found[1]


def expire(link: Invitation | ResetLink) -> None:
    type(link).objects.filter(pk=link.pk).update(expires_at=timezone.now() - timedelta(minutes=1))


# Inviting ----------------------------------------------------------------------------------------------------------


def test_an_invited_person_chooses_name_and_password_and_lands_on_the_work_list() -> None:
    lead = client_of(make_lead())
    body = {"role": "expert", "email": "mei@example.org", "days": "7", "languages": ["Chinese"], "tasks": ["T2.1"]}
    made = lead.post(reverse("leading:invite"), body)
    link = link_in(made.content.decode())
    assert made.status_code == 201
    assert link.startswith("http://testserver/invitation/")

    guest = Client()
    assert "Expert" in guest.get(link).content.decode()
    answer = guest.post(link, CHOSEN)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/")
    assert guest.get("/").status_code == 200
    mei = User.objects.get(username="mei")
    assert (mei.role, mei.email, mei.name) == (Role.EXPERT, "mei@example.org", "Mei Lin")
    assert (mei.work_languages, mei.work_tasks) == (["Chinese"], ["T2.1"])
    assert Event.objects.get(action="core.accept_invitation").by == mei


def test_the_link_is_shown_once_and_nothing_keeps_its_text() -> None:
    lead = make_lead()
    client = client_of(lead)
    link = link_in(client.post(reverse("leading:invite"), {"role": "annotator", "days": "7"}).content.decode())
    token = link.rstrip("/").rpartition("/")[2]
    assert token not in client.get(reverse("leading:people")).content.decode()
    kept = [
        *Invitation.objects.values_list("digest", flat=True),
        *map(str, Event.objects.values_list("data", "reason")),
    ]
    kept += [bytes(body).decode() for body in IdempotencyKey.objects.values_list("body", flat=True)]
    assert [one for one in kept if token in one] == []


def test_only_a_lead_invites_and_revokes() -> None:
    invitation, _token = actions.invite(role=Role.ANNOTATOR, by=make_lead())
    for person in (make_annotator(), make_expert()):
        with pytest.raises(NotAllowed):
            actions.invite(role=Role.LEAD, by=person)
        with pytest.raises(NotAllowed):
            actions.revoke_invitation(invitation=invitation, by=person)
        with pytest.raises(NotAllowed):
            actions.make_reset_link(person=make_annotator(), by=person)
        assert client_of(person).get(reverse("leading:invite")).status_code == 403


@pytest.mark.parametrize(
    ("field", "value"),
    [("role", "owner"), ("email", "nowhere"), ("languages", ["Latin"]), ("tasks", ["T99"]), ("days", 0), ("days", 91)],
)
def test_a_wrong_field_of_an_invitation_is_named_and_nothing_is_made(field: str, value: Any) -> None:
    with pytest.raises(Invalid) as refused:
        actions.invite(by=make_lead(), **{"role": str(Role.ANNOTATOR), field: value})
    assert list(refused.value.errors) == [field]
    assert not Invitation.objects.exists()


def test_the_page_keeps_what_was_typed_and_says_what_is_wrong() -> None:
    make_annotator("mei")
    answer = client_of(make_lead()).post(
        reverse("leading:invite"), {"role": "annotator", "email": "mei@example.org", "days": "9", "tasks": ["T2.1"]}
    )
    html = answer.content.decode()
    assert answer.status_code == 400
    assert "Somebody has this e-mail address already." in html
    assert 'value="9"' in html


def _used(invitation: Invitation) -> None:
    actions.accept_invitation(invitation=invitation, name="first", password=PASSWORD)


def _revoked(invitation: Invitation) -> None:
    actions.revoke_invitation(invitation=invitation, by=invitation.made_by)


@pytest.mark.parametrize(
    ("close", "words"),
    [
        (_used, "opens once"),
        (_revoked, "was revoked. Ask a lead"),
        (expire, "time of this link is over. Ask a lead"),
    ],
)
def test_a_closed_invitation_says_why_and_what_to_do_and_makes_nobody(close: Any, words: str) -> None:
    invitation, token = actions.invite(role=Role.LEAD, by=make_lead())
    close(invitation)
    before = User.objects.count()
    for answer in (Client().get(address(token)), Client().post(address(token), CHOSEN)):
        assert answer.status_code == 410
        assert words in answer.content.decode()
    assert User.objects.count() == before


def test_an_unknown_link_says_so() -> None:
    answer = Client().get(address("never-made"))
    assert answer.status_code == 404
    assert "not known here" in answer.content.decode()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "two words"}, "neither spaces"),
        ({"name": "wei"}, "is taken"),
        ({"password": "short", "again": "short"}, "at least 12"),
        ({"again": "another pass phrase"}, "The two passwords differ."),
        ({"password": "", "again": ""}, "required"),
    ],
)
def test_a_wrong_choice_is_told_at_its_field_and_the_link_stays_good(given: dict[str, str], words: str) -> None:
    make_annotator("wei")
    invitation, token = actions.invite(role=Role.ANNOTATOR, by=make_lead())
    answer = Client().post(address(token), {**CHOSEN, **given})
    html = answer.content.decode()
    assert answer.status_code == 400
    assert words in html
    assert 'value="Mei Lin"' in html
    assert PASSWORD not in html
    assert Client().post(address(token), CHOSEN).status_code == 302
    assert Invitation.objects.get(pk=invitation.pk).person == User.objects.get(username="mei")


def test_who_is_signed_in_already_does_not_use_up_another_persons_invitation() -> None:
    invitation, token = actions.invite(role=Role.EXPERT, by=make_lead())
    lead = client_of(make_lead())
    assert lead.get(address(token)).status_code == 409
    assert lead.post(address(token), CHOSEN).status_code == 409
    invitation.refresh_from_db()
    assert invitation.state == "open"


def test_what_somebody_made_as_a_lead_opens_nothing_once_they_are_none() -> None:
    lead, other = make_lead(), make_lead()
    _invitation, token = actions.invite(role=Role.LEAD, by=lead)
    _second, other_token = actions.invite(role=Role.LEAD, by=other)
    _link, reset = actions.make_reset_link(person=make_annotator(), by=lead)
    actions.set_active(person=lead, active=False, by=other)
    assert Client().get(address(token)).status_code == 410
    assert Client().get(address(reset, "reset_open")).status_code == 410
    actions.change_role(person=other, role=Role.ANNOTATOR, by=make_lead())
    assert Client().get(address(other_token)).status_code == 410


@pytest.mark.django_db(transaction=True)
def test_of_five_who_open_one_invitation_at_once_one_comes_in() -> None:
    invitation, _token = actions.invite(role=Role.ANNOTATOR, by=make_lead())

    def come(number: int) -> bool:
        try:
            actions.accept_invitation(invitation=invitation, name=f"guest{number}", password=PASSWORD)
        except Conflict:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(5) as pool:
        assert sorted(pool.map(come, range(5))) == [False] * 4 + [True]
    assert User.objects.filter(username__startswith="guest").count() == 1


def test_the_invitation_is_sent_in_both_languages_and_tells_when_it_was_not(settings: Any, caplog: Any) -> None:
    client = client_of(make_lead())
    body = {"role": "annotator", "days": "7", "email": "mei@example.org"}
    html = client.post(reverse("leading:invite"), body).content.decode()
    sent = mail.outbox[0]
    assert (sent.to, link_in(html) in sent.body) == (["mei@example.org"], True)
    assert "You are invited" in sent.body
    assert "你受邀加入" in sent.body
    assert "Sent to mei@example.org." in html

    settings.EMAIL_BACKEND = "tests.leading.test_inviting.DeadServer"
    with caplog.at_level(logging.WARNING):
        html = client.post(reverse("leading:invite"), {**body, "email": "wei@example.org"}).content.decode()
    assert "No e-mail went to wei@example.org" in html
    assert link_in(html).rpartition("/invitation/")[2] not in caplog.text
    assert "wei@" not in caplog.text

    settings.EMAIL_BACKEND = inviting.NO_MAIL_SERVER
    html = client.post(reverse("leading:invite"), {**body, "email": "lin@example.org"}).content.decode()
    assert "No e-mail went to lin@example.org" in html


class DeadServer:
    def __init__(self, **_more: Any) -> None:
        pass

    def send_messages(self, _messages: Any) -> int:
        raise ConnectionRefusedError("wei@example.org")


def test_what_an_invited_person_reads_is_in_the_language_of_the_browser() -> None:
    _invitation, token = actions.invite(role=Role.EXPERT, by=make_lead())
    html = Client().get(address(token), headers={"Accept-Language": "zh-hans"}).content.decode()
    assert "欢迎使用" in html
    assert "专家" in html
    translation.activate("en")


def test_a_lead_sees_open_invitations_and_revokes_one() -> None:
    lead = make_lead()
    invitation, token = actions.invite(role=Role.EXPERT, by=lead, email="mei@example.org")
    client = client_of(lead)
    assert "mei@example.org" in client.get(reverse("leading:people")).content.decode()
    revoke = reverse("leading:invitation_revoke", args=[invitation.pk])
    assert client.post(revoke).status_code == 302
    assert "mei@example.org" not in client.get(reverse("leading:people")).content.decode()
    assert client.post(revoke).status_code == 409
    assert Client().get(address(token)).status_code == 410


def test_invitations_are_made_listed_and_revoked_by_the_api() -> None:
    program = APIClient()
    program.force_authenticate(make_lead())
    body = {"role": "expert", "tasks": [secondary_task("T2.1").name], "days": 3}
    made = program.post("/api/v1/invitations/", body, format="json")
    assert made.status_code == 201
    assert Client().get(made.json()["link"]).status_code == 200
    listed = program.get("/api/v1/invitations/").json()["results"]
    assert [(one["role"], one["tasks"], one["state"]) for one in listed] == [("expert", ["T2.1"], "open")]
    assert "link" not in listed[0]
    assert program.post(f"/api/v1/invitations/{listed[0]['id']}/revoke/").json()["state"] == "revoked"
    again = program.post(f"/api/v1/invitations/{listed[0]['id']}/revoke/")
    assert (again.status_code, again.json()["rule"]) == (409, "link_closed")
    program.force_authenticate(make_expert())
    assert program.post("/api/v1/invitations/", body, format="json").status_code == 403


# A forgotten password ------------------------------------------------------------------------------------------------


def test_with_a_reset_link_a_person_chooses_a_new_password_and_every_session_ends() -> None:
    person, lead = make_annotator("mei"), make_lead()
    at_work = client_of(person)
    made = client_of(lead).post(reverse("leading:person_reset_link", args=[person.pk]))
    link = link_in(made.content.decode())
    assert made.status_code == 201
    assert mail.outbox == []
    assert at_work.get("/").status_code == 200  # the old password holds until the new one is chosen
    visitor = Client()
    answer = visitor.post(link, {"password": "another pass phrase", "again": "another pass phrase"})
    assert answer.headers["Location"] == reverse("account_login")
    assert "_auth_user_id" not in visitor.session  # signing in, with the second factor, is a step of its own
    assert at_work.get("/").status_code == 302
    assert Client().login(username="mei", password="another pass phrase")
    assert Client().get(link).status_code == 410
    assert [event.action for event in Event.objects.filter(subject_type="user", subject_id=person.pk)] == [
        "core.make_reset_link",
        "core.use_reset_link",
    ]


def test_a_second_reset_link_closes_the_first_and_a_deactivated_person_gets_none() -> None:
    person, lead = make_annotator(), make_lead()
    _first, old = actions.make_reset_link(person=person, by=lead)
    _second, new = actions.make_reset_link(person=person, by=lead)
    assert Client().get(address(old, "reset_open")).status_code == 410
    assert Client().get(address(new, "reset_open")).status_code == 200
    actions.set_active(person=person, active=False, by=lead)
    assert Client().get(address(new, "reset_open")).status_code == 410
    with pytest.raises(RuleBroken, match="deactivated"):
        actions.make_reset_link(person=person, by=lead)


def test_a_reset_link_is_sent_when_the_lead_says_so_by_page_and_by_api() -> None:
    person, lead = make_annotator("mei"), make_lead()
    page = client_of(lead).post(reverse("leading:person_reset_link", args=[person.pk]), {"send": "on"})
    assert link_in(page.content.decode()) in mail.outbox[0].body
    program = APIClient()
    program.force_authenticate(lead)
    answer = program.post(f"/api/v1/people/{person.pk}/reset_link/", {"send": True}, format="json").json()
    assert (answer["sent"], answer["link"] in mail.outbox[1].body) == (True, True)


def test_a_weak_new_password_is_refused_and_the_link_stays_good() -> None:
    link, token = actions.make_reset_link(person=make_annotator(), by=make_lead())
    answer = Client().post(address(token, "reset_open"), {"password": "mei123", "again": "mei123"})
    assert answer.status_code == 400
    link.refresh_from_db()
    assert link.state == "open"


def test_an_expired_reset_link_says_so() -> None:
    link, token = actions.make_reset_link(person=make_annotator(), by=make_lead())
    expire(link)
    assert "Ask a lead for a new one" in Client().get(address(token, "reset_open")).content.decode()
