# One image for both processes of a deployment: web and worker (docker-compose.yml).
FROM python:3.12-slim

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    DJANGO_SETTINGS_MODULE=config.settings.production \
    LBP_DATA_DIR=/data \
    STATIC_ROOT=/srv/static

# The data folder is made here, so that a volume mounted on it belongs to the user who writes into it.
RUN useradd --create-home --uid 10001 workbench && mkdir /data /srv/static && chown workbench /data

WORKDIR /srv/workbench
COPY requirements/base.txt requirements/base.txt
RUN pip install --require-hashes -r requirements/base.txt

COPY . .
# The values are for these two commands only; nothing of them stays in the image.
RUN SECRET_KEY=building ALLOWED_HOSTS=localhost python manage.py translations compile \
    && SECRET_KEY=building ALLOWED_HOSTS=localhost python manage.py collectstatic --noinput --verbosity 0 \
    && python -m compileall -q .

USER workbench
EXPOSE 8000
