"""Who asks: a client that is signed in as a person, without the way through the log-in page."""

from django.test import Client

from core.models import User


def client_of(person: User, language: str = "") -> Client:
    """`language`: chosen by the person for their pages from now on; empty: as it is."""
    if language and person.language != language:
        person.language = language
        person.save(update_fields=["language"])
    client = Client()
    client.force_login(person)
    return client
