"""The one-command set-up on one machine: no key needed, loopback only."""

from config.settings.base import *  # noqa: F403 -- settings modules build on each other by name
from config.settings.base import DATA_DIR, env

DEBUG = env.bool("DEBUG", default=False)
ALLOWED_HOSTS = [*env.list("ALLOWED_HOSTS", default=[]), "localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
# Scripts and styles are served from where they lie; nothing is collected.
WHITENOISE_USE_FINDERS = True
EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"


def _kept_secret() -> str:
    """The secret key of this data folder, made once and readable by its owner only."""
    import secrets  # noqa: PLC0415

    path = DATA_DIR / "secret-key"
    if not path.exists():
        DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(64))
    return path.read_text()


SECRET_KEY = env("SECRET_KEY", default="") or _kept_secret()
# The demo announces its one password on the log-in page.
LBP_DEMO = env.bool("LBP_DEMO", default=True)
LBP_DEMO_PASSWORD = env("LBP_DEMO_PASSWORD", default="longbench-demo")
