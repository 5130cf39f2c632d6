"""Fifty people at once, over HTTP, on PostgreSQL (I-01, I-02): a hundred samples, twenty rounds."""

import http.client
import json
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from django.db.models import Count
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from annotation.models import Claim, Participation, Sample
from core.authentication import issue_token
from core.models import BenchmarkSettings, User
from tests.factories import make_annotator, make_sample

CLIENTS, SAMPLES, ROUNDS, LIMIT = 50, 100, 20, 5
pytestmark = [
    pytest.mark.bench,
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
]


@dataclass
class Seen:
    """What one client was told: by status, by rule, which samples it was given, how long it waited."""

    statuses: Counter[int] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    given: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def ask(server: LiveServer, token: str, address: str, seen: Seen) -> None:
    host = urlsplit(server.url)
    begun = time.monotonic()
    line = http.client.HTTPConnection(host.hostname or "", host.port, timeout=60)
    line.request("POST", f"/api/v1/{address}/", headers={"Authorization": f"Bearer {token}", "Content-Length": "0"})
    answer = line.getresponse()
    body = json.loads(answer.read() or b"{}")
    line.close()
    seen.seconds.append(time.monotonic() - begun)
    seen.statuses[answer.status] += 1
    if answer.status == 200:
        seen.given.append(body["id"])
    else:
        seen.rules[body.get("rule", "")] += 1


def test_fifty_clients_over_a_hundred_samples_never_hold_one_twice(live_server: LiveServer) -> None:
    settings = BenchmarkSettings.load()
    settings.claims_per_person = LIMIT
    settings.save()
    samples = [make_sample(candidates=1).pk for _i in range(SAMPLES)]
    people = [make_annotator() for _i in range(CLIENTS)]
    tokens = [issue_token(person=one, name="race", scope="write", days=1, by=one)[1] for one in people]
    all_seen: list[Seen] = []
    for number in range(ROUNDS):
        free_all()
        all_seen += one_round(live_server, people, tokens, samples, number)
    told = Counter[int]()
    rules = Counter[str]()
    for seen in all_seen:
        told += seen.statuses
        rules += seen.rules
    assert not {status for status in told if status >= 500}, told
    assert set(told) <= {200, 404, 409, 422}
    assert set(rules) <= {"claimed_by_another", "too_many_claims", "not_found"}
    assert rules["claimed_by_another"]
    waits = sorted(second for seen in all_seen for second in seen.seconds)
    print(f"\n{sum(told.values())} requests: {dict(told)} {dict(rules)}")  # noqa: T201 -- the figures of the bench
    print(f"p50 {waits[len(waits) // 2]:.3f} s, p95 {waits[int(len(waits) * 0.95)]:.3f} s")  # noqa: T201


def free_all() -> None:
    """Everybody goes home: nothing is claimed, and everything may be given to anybody."""
    Claim.objects.filter(ended_at=None).update(ended_at=timezone.now(), ended_how="released")
    Participation.objects.all().delete()
    Sample.objects.update(annotator=None)


def one_round(server: LiveServer, people: list[User], tokens: list[str], samples: list[int], number: int) -> list[Seen]:
    gate, seen = threading.Barrier(len(people)), [Seen() for _person in people]
    hot = random.Random(number).sample(samples, 10)

    def work(place: int) -> None:
        chance = random.Random(number * 1000 + place)
        gate.wait()
        ask(server, tokens[place], "samples/next", seen[place])
        for _turn in range(3):
            ask(server, tokens[place], f"samples/{chance.choice(hot)}/claim", seen[place])
        ask(server, tokens[place], "samples/next", seen[place])

    threads = [threading.Thread(target=work, args=(place,)) for place in range(len(people))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    holders: dict[int, set[int]] = {}
    for person, one in zip(people, seen, strict=True):
        for sample in one.given:
            holders.setdefault(sample, set()).add(person.pk)
    # By what the clients were told, and by what the database holds.
    assert all(len(those) == 1 for those in holders.values()), holders
    held = Claim.objects.filter(ended_at=None)
    assert held.count() == len(holders)
    assert set(held.values_list("sample", flat=True)) == set(holders)
    # Nothing is given back meanwhile: whoever hears that nothing waits is right.
    if any(one.statuses[404] for one in seen):
        assert held.count() == len(samples)
    most = held.values("holder").annotate(n=Count("pk")).order_by("-n")[0]["n"]
    assert most <= LIMIT
    return seen
