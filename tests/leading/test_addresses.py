"""The API's addresses are those of the outer interface."""

import pytest
from django.test import Client

from tests.factories import make_annotator, make_lead, make_sample, make_version

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("end", ["", "/"])
def test_an_address_is_taken_with_and_without_a_slash_at_its_end(end: str) -> None:
    version, sample = make_version(), make_sample()
    client = Client()
    client.force_login(make_lead())
    assert client.get(f"/api/v1/documents/{version.document_id}/text{end}").status_code == 200
    annotator = Client()
    annotator.force_login(make_annotator())
    assert annotator.post(f"/api/v1/samples/{sample.pk}/claim{end}").status_code == 200
