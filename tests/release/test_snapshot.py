"""People go on working while a release is frozen; it holds one point in time."""

from threading import Thread
from typing import Any

import pytest
from django.db import connection, connections

from core.models import User
from release import actions, building, collecting
from release.models import DifficultyLabel
from tests.factories import make_lead
from tests.release.parts import make_ready_sample


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("small_lengths")
def test_what_is_committed_while_a_snapshot_is_read_is_not_half_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("on SQLite nobody writes while the snapshot is read; this needs DATABASE_URL with PostgreSQL")
    sample = make_ready_sample()
    annotator = sample.annotator
    assert annotator is not None
    before = annotator.pseudonym
    read_on = collecting.provenance_of

    def change() -> None:
        User.objects.filter(pk=annotator.pk).update(pseudonym="p-00000000")
        DifficultyLabel.objects.update(difficulty="Extreme")
        connections.close_all()

    def interrupted(*args: Any) -> Any:
        meanwhile = Thread(target=change)
        meanwhile.start()
        meanwhile.join()
        return read_on(*args)

    release = actions.make_release(version="1.0", by=make_lead(), allow_incomplete=True)
    monkeypatch.setattr(collecting, "provenance_of", interrupted)
    building.build(release)
    item = release.items.get()
    assert User.objects.get(pk=annotator.pk).pseudonym == "p-00000000"
    assert (item.fields["difficulty"], item.provenance["people"]["verified_by"]) == ("Easy", before)
