"""Leads who plan at the same moment. Only PostgreSQL proves anything here."""

import pytest

from annotation.models import Sample
from core.models import User
from leading import actions, queries
from leading.planning import Made, Pair, make_samples
from tests.annotation.test_races import at_once
from tests.factories import make_lead, make_version

LEADS = 6
pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
]


def test_the_same_pairs_sent_by_many_at_once_are_made_once() -> None:
    pairs = [Pair(make_version().document_id, task) for task in ("T1.1", "T1.2", "T2.1")]
    done, refused = at_once([make_lead() for _i in range(LEADS)], lambda lead: make_samples(pairs=pairs, by=lead))
    assert refused == []
    assert sorted(len(made.samples) for made in done) == [0] * (LEADS - 1) + [3]
    assert Sample.objects.count() == 3


def test_a_cell_that_many_fill_at_once_with_different_documents_gets_no_more_than_it_needs() -> None:
    cell = next(cell for cell in queries.cells() if cell.key == ("T1.2", "English", "8k"))
    actions.set_cell_targets(targets={cell.key: 2}, by=make_lead())
    leads = [make_lead() for _i in range(LEADS)]
    of = {lead.pk: make_version().document_id for lead in leads}

    def make(lead: User) -> Made:
        return make_samples(pairs=[Pair(of[lead.pk], "T1.2")], by=lead)

    done, refused = at_once(leads, make)
    assert refused == []
    assert sum(len(made.samples) for made in done) == 2
    assert {one.rule for made in done for one in made.left} == {"cell_full"}
