"""Settings that hold everywhere. What differs by machine comes from the environment (see README, Settings)."""

from pathlib import Path

import environ
from django.utils.translation import gettext_lazy as _

BASE_DIR = Path(__file__).resolve().parents[2]
env = environ.Env()

DATA_DIR = Path(env("LBP_DATA_DIR", default="") or BASE_DIR / ".data").resolve()

INSTALLED_APPS = [
    "config.apps.ConfigConfig",
    "leading",
    "release",
    "review",
    "annotation",
    "generation",
    "documents",
    "core",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "django_filters",
    "django_htmx",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rest_framework",
    "template_partials",
]

MIDDLEWARE = [
    "core.middleware.SecurityHeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    # Above whatever reads a form.
    "core.middleware.UploadLimitMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "core.middleware.PersonLanguageMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "core.middleware.FragmentLogInMiddleware",
    "core.middleware.FragmentMessagesMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "core.middleware.SecondFactorMiddleware",
    "core.middleware.RefusalMiddleware",
    "core.middleware.OnceMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
ASGI_APPLICATION = "config.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "core.context_processors.shell",
            ],
        },
    }
]

# Data -----------------------------------------------------------------------------------------------
DATABASES = {"default": env.db("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'db.sqlite3'}")}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # Deferred transactions fail with "database is locked" when two of them upgrade; IMMEDIATE ones wait their turn.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
MEDIA_ROOT = DATA_DIR / "files"

REDIS_URL = env("REDIS_URL", default="")
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
    }
    if REDIS_URL
    else {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "core_cache",
    }
}

# People ---------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "core.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "core.accounts.InvitationOnlyAdapter"
ACCOUNT_LOGIN_METHODS = {"email", "username"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_SESSION_REMEMBER = True
MFA_TOTP_ISSUER = "LongBench Pro"
# Accounts are made by a lead, so nobody can bind a second factor to somebody else's address.
MFA_ALLOW_UNVERIFIED_EMAIL = True
# Experts and leads sign in with a second factor: without one they are led to set it up before anything else.
LBP_REQUIRE_TOTP = env.bool("LBP_REQUIRE_TOTP", default=False)
# Whole teams sit behind one address of an office: what is tried against one account is what is limited closely.
ACCOUNT_RATE_LIMITS: dict[str, str] | bool = {"login": "120/m/ip", "login_failed": "60/m/ip,5/300s/key"}
ALLAUTH_TRUSTED_PROXY_COUNT = env.int("TRUSTED_PROXY_COUNT", default=0)
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "core.views.csrf_refused"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# Words ----------------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "locale", BASE_DIR / "benchmark" / "locale"]
LANGUAGE_COOKIE_SAMESITE = "Lax"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True
FORMAT_MODULE_PATH = "config.formats"

# Files served with the pages -------------------------------------------------------------------------
STATIC_URL = "static/"
STATIC_ROOT = Path(env("STATIC_ROOT", default=str(DATA_DIR / "static")))
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_ALLOW_ALL_ORIGINS = False

# Limits: a 256k-token Chinese text is 1.2 MB as multipart and 3.6 MB when it is percent-encoded.
DATA_UPLOAD_MAX_MEMORY_SIZE = 40 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FILES = 2000
# All files of one upload together; a request that says it is larger is refused before it is read. A proxy in front
# must allow a little more (README, Deployment).
LBP_MAX_UPLOAD = 256 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000
FILE_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024

# Jobs: rows in the database are the truth, a message only hurries (docs/decisions) ---------------------
if REDIS_URL:
    CELERY_BROKER_URL = REDIS_URL
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "visibility_timeout": 3600,
        "unacked_restore_interval": 2,
        "unacked_restore_throttle": 1,
        "socket_timeout": 30,
        "global_keyprefix": "lbp:",
    }
else:
    CELERY_BROKER_URL = "folder://localhost"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(DATA_DIR / "queue"),
        "data_folder_out": str(DATA_DIR / "queue"),
        "control_folder": str(DATA_DIR / "queue-control"),
        # kombu's default of one second makes a job wait for a second before it starts
        "polling_interval": 0.1,
    }
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat-schedule")
CELERY_BEAT_SCHEDULE = {
    "take up what the broker lost": {
        "task": "leading.reconcile",
        "schedule": env.float("LBP_RECONCILE_SECONDS", 15.0),
    },
    "seal the audit trail": {
        "task": "core.seal_trail",
        "schedule": env.float("LBP_SEAL_SECONDS", 60.0),
        "options": {"expires": 60.0},
    },
    "leave a sign of life": {
        "task": "config.leave_pulse",
        "schedule": 15.0,
        # what waited while every thread was busy must not be worked off in a row
        "options": {"expires": 60.0},
    },
}

# Programs -------------------------------------------------------------------------------------------
# Of each token, and of each person who is signed in; 0 is no limit.
LBP_API_REQUESTS_PER_MINUTE = env.int("LBP_API_REQUESTS_PER_MINUTE", default=1200)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "core.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["core.authentication.SignedInWithinScope"],
    "DEFAULT_THROTTLE_CLASSES": ["core.throttling.PerCaller"],
    "NUM_PROXIES": env.int("TRUSTED_PROXY_COUNT", default=0),
    "DEFAULT_PAGINATION_CLASS": "core.paging.Pages",
    "DEFAULT_FILTER_BACKENDS": ["core.filtering.KnownFilters"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "core.parsing.JsonBody",
        "rest_framework.parsers.MultiPartParser",
        "rest_framework.parsers.FormParser",
    ],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "core.api.as_problem",
    "PAGE_SIZE": 50,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "LongBench Pro workbench",
    "DESCRIPTION": "Every action a person can take on a page, a program can take under the same rules.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "core.schema.with_what_every_operation_shares",
        "config.api_examples.with_examples",
    ],
    "ENUM_NAME_OVERRIDES": {
        "VersionState": "documents.workflow.VersionState",
        "BatchState": "documents.workflow.BatchState",
        "Outcome": "documents.workflow.Outcome",
        "RunState": "generation.workflow.RunState",
        "CallState": "generation.workflow.CallState",
        "ModelKind": "generation.workflow.Kind",
        "SampleState": "annotation.workflow.SampleState",
        "CandidateState": "annotation.workflow.CandidateState",
        "DraftingOutcome": "annotation.workflow.DraftingOutcome",
        "AuditOutcome": "annotation.workflow.AuditOutcome",
        "CaseState": "review.workflow.CaseState",
        "ReviewState": "review.workflow.ReviewState",
        "IssueKind": "review.workflow.IssueKind",
        "AdjudicationOutcome": "review.workflow.AdjudicationOutcome",
        "ReleaseState": "release.workflow.ReleaseState",
        "LinkState": "leading.workflow.LinkState",
    },
}

# Models of language ------------------------------------------------------------------------------------
# "demo": the simulated models, offline; "real": the panel of generation/data/models.json
LBP_PANEL = env("LBP_PANEL", default="demo")
# A lead names the variable that holds a model's key and the address it is sent to. Both are bounded here, by the
# operator, so that no lead can send a secret of this machine anywhere.
LBP_KEY_PREFIX = "LBP_KEY_"
LBP_MODEL_HOSTS = env.list("LBP_MODEL_HOSTS", default=[])
# What compares summaries: "" for the offline encoder, "endpoint:MODEL" for an embedding server with OpenAI's interface
# at LBP_EMBEDDER_URL, "sentence-transformers:NAME" for that package where it is installed.
LBP_EMBEDDER = env("LBP_EMBEDDER", default="")
LBP_EMBEDDER_URL = env("LBP_EMBEDDER_URL", default="")
LBP_CALL_DEADLINE_SECONDS = env.float("LBP_CALL_DEADLINE_SECONDS", default=900.0)
# Beyond the deadline, for storing the reply; after that a call counts as lost.
LBP_LEASE_MARGIN_SECONDS = env.float("LBP_LEASE_MARGIN_SECONDS", default=120.0)
LBP_CALL_ATTEMPTS = env.int("LBP_CALL_ATTEMPTS", default=4)
# Messages only hurry the worker; tests and `simulate` switch them off and work the rows off in process.
LBP_SEND_MESSAGES = True
# Of one provider and one worker process, where a lead has set no limit for the provider.
LBP_CALLS_IN_FLIGHT = env.int("LBP_CALLS_IN_FLIGHT", default=64)
# Of all requests that one worker process has out: their texts are held in memory, a million tokens in about 10 MB.
LBP_TOKENS_IN_FLIGHT = env.int("LBP_TOKENS_IN_FLIGHT", default=30_000_000)
# Processes that measure texts on their way in; 1 measures in threads of the worker itself.
LBP_INTAKE_PROCESSES = env.int("LBP_INTAKE_PROCESSES", default=2)
# Where releases are pushed to, and by which right. The token is read here and kept nowhere.
LBP_HUB_ENDPOINT = env("LBP_HUB_ENDPOINT", default="https://huggingface.co").rstrip("/")
LBP_HUB_TOKEN = env("HF_TOKEN", default="")
# A hub name or a folder with a tokenizer for `transformers`; empty: the Qwen3 tokenizer kept in this repository.
LBP_TOKENIZER = env("LBP_TOKENIZER", default="")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env("LOG_LEVEL", default="INFO")},
}
