# The only entry points. Each needs nothing but Python 3.11 or newer; the rest is fetched into .venv once.
PYTHON ?= python3
VENV := .venv/bin
# Only for the checks below: nothing is served with these values.
AS_PRODUCTION = DJANGO_SETTINGS_MODULE=config.settings.production ALLOWED_HOSTS=example.org \
	SECRET_KEY=only-for-the-deployment-check-in-make-lint-0123456789-abcdefghij
AS_TEST = DJANGO_SETTINGS_MODULE=config.settings.test

# Where it is set, every process compiles every library again: seconds for each of the hundred that the tests start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup run test lint bench

setup: ## the preparation alone: environment, dependencies, translations, database
	@$(PYTHON) config/setup.py
	@$(VENV)/python manage.py prepare

run: ## the whole product on this machine; Ctrl-C ends all of it
	@$(PYTHON) config/setup.py
	@exec $(VENV)/python manage.py serve

test: ## the test suite; on DATABASE_URL and REDIS_URL when they are set. One file: make test ARGS=tests/core
	@$(PYTHON) config/setup.py --dev
	@$(VENV)/python manage.py prepare
	@$(VENV)/python -m pytest -n 3 --dist loadgroup --no-loadscope-reorder $(ARGS)

bench: ## slow proofs: speed, races, kills, soak
	@$(PYTHON) config/setup.py --dev
	@$(VENV)/python manage.py prepare
	@$(VENV)/python -m pytest -m bench $(ARGS)

lint: ## everything that is checked without running the product
	@$(PYTHON) config/setup.py --dev
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/lint-imports --no-cache --no-logo
	find . -path './.*' -prune -o -path '*/templates/*' -name '*.html' -exec $(VENV)/djade --target-version 5.2 --check {} +
	$(VENV)/mypy .
	$(AS_TEST) $(VENV)/python manage.py check --fail-level WARNING
	$(AS_TEST) $(VENV)/python manage.py makemigrations --check --dry-run
	$(AS_PRODUCTION) $(VENV)/python manage.py check --deploy --fail-level WARNING
	$(AS_TEST) $(VENV)/python manage.py translations check
