"""The test suite: on SQLite by default, on PostgreSQL and Redis when DATABASE_URL and REDIS_URL are set."""

import atexit
import os
import shutil
import tempfile

if "LBP_DATA_DIR" not in os.environ:
    os.environ["LBP_DATA_DIR"] = tempfile.mkdtemp(prefix="lbp-test-")
    atexit.register(shutil.rmtree, os.environ["LBP_DATA_DIR"], ignore_errors=True)

from config.settings.base import *  # noqa: F403

DEBUG = False
SECRET_KEY = "for the test suite only, never for a deployment"  # noqa: S105
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Rows are the truth: tests work the rows off in process (tests/jobs.py), no message is sent.
LBP_SEND_MESSAGES = False
LBP_DEMO = False
ACCOUNT_RATE_LIMITS = False
# Tests ask more in a minute than any program, under numbers of people that come again.
LBP_API_REQUESTS_PER_MINUTE = 0
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":  # noqa: F405
    # A file, as in the product: in memory the threads of a race would share one cache and lock each other out.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}  # noqa: F405
