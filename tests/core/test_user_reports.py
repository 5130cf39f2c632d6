"""What users of such tools report about signing in, roles and loss (T-56 to T-64), tried on ours.

T-56 and T-57 need a browser: tests/core/test_browser.py. T-62: tests/journeys/test_chinese.py walks every page.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator

from config.settings import base
from core.history import history_of
from core.models import BenchmarkSettings, Event, User
from core.workflow import Role
from leading import actions
from release.actions import withdraw_release
from tests.factories import make_annotator, make_claim, make_lead, make_sample
from tests.ground.running import manage
from tests.release.parts import make_ready_sample, released

pytestmark = pytest.mark.django_db
LOGIN = "/account/login/"
PASSWORD = "a long pass phrase"


def next_in(html: str) -> str:
    """Of the log-in form; the switches of the bar have one of their own."""
    found = re.findall(r'name="next" value="([^"]*)"', html)[-1]
    return str(found).replace("&amp;", "&")


def test_a_wrong_and_then_the_right_password_land_on_the_target() -> None:
    """T-58: what led to the log-in is kept over a failed attempt, from a page and from a part of one."""
    make_annotator("ada")
    client = Client()
    led = client.get("/samples/?state=returned&task=T1.1").headers["Location"]
    part = client.get(
        "/samples/", headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/samples/?page=2"}
    )
    assert part.content == b""
    for there, target in (
        (led, "/samples/?state=returned&task=T1.1"),
        (part.headers["HX-Redirect"], "/samples/?page=2"),
    ):
        client = Client()
        wanted = next_in(client.get(there).content.decode())
        wrong = client.post(LOGIN, {"login": "ada", "password": "wrong", "next": wanted})
        assert wrong.status_code == 200
        again = next_in(wrong.content.decode())
        right = client.post(LOGIN, {"login": "ada", "password": PASSWORD, "next": again})
        assert (right.status_code, right.headers["Location"]) == (302, target)
        assert "HX-Redirect" not in right.headers


DEPLOYMENT = {
    "DJANGO_SETTINGS_MODULE": "config.settings.production",
    "ALLOWED_HOSTS": "bench.example.org",
    "SECRET_KEY": "k" * 60,
}
DEPLOYED = (
    *("SECURE_PROXY_SSL_HEADER", "SECURE_SSL_REDIRECT", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE"),
    *("SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME", "CSRF_TRUSTED_ORIGINS", "ALLOWED_HOSTS"),
)


def deployed_settings(folder: Path) -> dict[str, Any]:
    """What the documented settings of a deployment make of a `.env` with a host and a secret."""
    code = "import json; from django.conf import settings as s; "
    code += f"print(json.dumps({{name: getattr(s, name) for name in {DEPLOYED}}}))"
    done = manage(folder, "shell", "-v", "0", "-c", code, **DEPLOYMENT)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return {**found, "SECURE_PROXY_SSL_HEADER": tuple(found["SECURE_PROXY_SSL_HEADER"])}


def test_behind_an_https_proxy_one_signs_in_and_sends_forms_from_the_documented_settings(
    settings: Any, tmp_path: Path
) -> None:
    """T-59: nothing is switched off; the proxy sets X-Forwarded-Proto and passes Host on, as README says."""
    for name, value in deployed_settings(tmp_path).items():
        setattr(settings, name, value)
    make_annotator("ada")
    proxied: dict[str, Any] = {"HTTP_HOST": "bench.example.org", "HTTP_X_FORWARDED_PROTO": "https"}
    origin = {"Origin": "https://bench.example.org", "Referer": "https://bench.example.org/account/login/"}
    client = Client(enforce_csrf_checks=True, **proxied)
    page = client.get(LOGIN)
    assert page.status_code == 200
    form = {"login": "ada", "password": PASSWORD, "csrfmiddlewaretoken": _token(page)}
    assert client.post(LOGIN, form, headers=origin).status_code == 302
    preferences = {"language": "zh-hans", "next": "/", "csrfmiddlewaretoken": _token(client.get("/preferences/"))}
    assert client.post(reverse("core:set_language"), preferences, headers=origin).status_code == 302
    elsewhere = {**origin, "Origin": "https://evil.example", "Referer": "https://evil.example/"}
    assert client.post(reverse("core:set_language"), preferences, headers=elsewhere).status_code == 403
    # Without the proxy's word it is not HTTPS, and nothing is served over HTTP.
    assert Client(HTTP_HOST="bench.example.org").get(LOGIN).headers["Location"].startswith("https://")


def _token(page: Any) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.content.decode())
    assert found is not None
    return found[1]


def test_ten_wrong_passwords_are_limited_and_a_whole_office_signs_in(settings: Any) -> None:
    """T-60: by the settings of the product. Each of fifteen behind one address mistypes once, then signs in."""
    settings.ACCOUNT_RATE_LIMITS = base.ACCOUNT_RATE_LIMITS
    cache.clear()
    attacked = make_annotator("ada")
    office: dict[str, Any] = {"REMOTE_ADDR": "203.0.113.7"}
    answers = [Client(**office).post(LOGIN, {"login": attacked.username, "password": f"wrong {n}"}) for n in range(10)]
    assert "_auth_user_id" not in answers[-1].wsgi_request.session
    assert "Too many" in answers[-1].content.decode()
    client = Client(**office)
    client.post(LOGIN, {"login": attacked.username, "password": PASSWORD})
    assert "_auth_user_id" not in client.session
    for _number in range(15):
        person, client = make_annotator(), Client(**office)
        client.post(LOGIN, {"login": person.username, "password": "mistyped"})
        client.post(LOGIN, {"login": person.username, "password": PASSWORD})
        assert client.get("/").status_code == 200
    cache.clear()


def test_however_a_person_came_the_same_role_gives_the_same_rights_and_leads_see_all() -> None:
    """T-61: there is no admin (docs/decisions/0008); a person comes by the page, the API, the command or a link."""
    lead = make_lead()
    client = Client()
    client.force_login(lead)
    client.post(reverse("leading:people"), {"name": "by_page", "role": "expert"})
    body = {"name": "by_api", "role": "expert"}
    client.post("/api/v1/people/", body, content_type="application/json")
    call_command("add_person", "by_command", "--role", "expert", "--password", PASSWORD)
    invitation, _token = actions.invite(role=Role.EXPERT, by=lead)
    actions.accept_invitation(invitation=invitation, name="by_link", password=PASSWORD)
    changed = make_annotator("by_change")
    actions.change_role(person=changed, role=Role.EXPERT, by=lead)
    came = list(User.objects.filter(username__startswith="by_").order_by("pk"))
    assert len(came) == 5
    for one in came:
        assert (one.role, one.is_staff, one.is_superuser) == (Role.EXPERT, False, False)
        assert not one.groups.exists()
        assert not one.user_permissions.exists()
    paths = (
        "/",
        "/documents/",
        "/samples/",
        "/reviews/",
        "/quality/",
        "/people/",
        "/progress/",
        "/runs/",
        "/releases/",
    )
    seen = []
    for one in came:
        visitor = Client()
        visitor.force_login(one)
        seen.append([visitor.get(path).status_code for path in paths])
    assert seen == [seen[0]] * 5
    assert seen[0][:5] == [200] * 5
    assert seen[0][5] == 403
    html = client.get(reverse("leading:people")).content.decode()
    assert [one.username for one in came if one.username not in html] == []
    assert [path for path in paths if client.get(path).status_code != 200] == []


def test_nothing_is_deleted_and_what_ends_it_says_who_when_and_why(settings: Any, tmp_path: Path) -> None:
    """T-64: no work can be deleted. What plays its part: a withdrawn release (kept), a deactivated person (let in
    again), an exhausted sample or discarded candidate (tests/annotation/test_taking_back.py brings both back)."""
    schema: Any = SchemaGenerator().get_schema(request=None, public=True)
    deleting = [path for path, operations in schema["paths"].items() if "delete" in operations]
    # How fast a provider is asked is a setting, and its removal has a line in the trail.
    assert deleting == ["/api/v1/limits/{id}/"]
    lead, person = make_lead(), make_annotator()
    lengths = BenchmarkSettings.load()
    lengths.unit = 8  # short texts fill real buckets
    lengths.save()
    settings.MEDIA_ROOT = tmp_path / "files"
    make_ready_sample()
    release = withdraw_release(release=released(), reason="A document must go.", by=lead)
    actions.set_active(person=person, active=False, by=lead)
    for record, action, reason in (
        (release, "release.withdraw", "A document must go."),
        (person, "core.deactivate_person", ""),
    ):
        event = history_of(record).last()
        assert event is not None
        assert (event.action, event.by, event.reason) == (action, lead, reason)
        assert event.at is not None
    client = Client()
    client.force_login(lead)
    assert "A document must go." in client.get(f"/releases/{release.version}/").content.decode()
    actions.set_active(person=person, active=True, by=lead)
    person.refresh_from_db()
    assert person.is_active
    with pytest.raises(Exception, match="append-only"):
        Event.objects.all().delete()


def test_a_page_that_asks_stands_before_a_deactivation() -> None:
    """T-64 again: a link never deactivates; the page names what is open, and a form of its own does it."""
    lead, person = make_lead(), make_annotator("ada")
    client = Client()
    client.force_login(lead)
    sample = make_sample()
    make_claim(sample, person)
    address = reverse("leading:person_active", args=[person.pk])
    html = client.get(address).content.decode()
    assert "Deactivate ada?" in html
    assert sample.label in html
    person.refresh_from_db()
    assert person.is_active
    client.post(address, {"active": "no"})
    person.refresh_from_db()
    assert not person.is_active


def test_there_is_no_account_before_somebody_makes_one_and_no_demo_in_a_deployment(tmp_path: Path) -> None:
    call_command("prepare")
    assert not User.objects.exists()
    code = "from django.conf import settings as s; print(s.LBP_DEMO, getattr(s, 'LBP_DEMO_PASSWORD', None))"
    given = {"ALLOWED_HOSTS": "bench.example.org", "SECRET_KEY": "k" * 60, "LBP_DEMO": "1"}
    done = manage(
        tmp_path, "shell", "-v", "0", "-c", code, DJANGO_SETTINGS_MODULE="config.settings.production", **given
    )
    assert done.stdout.strip().splitlines()[-1] == "False None"
