"""How long the server takes for the pages of progress and plan with 1,500 samples, 22,500 candidates, 100,000 calls and
60 people. The table is printed (`pytest -m bench -s tests/leading/test_bench_progress.py`)."""

import os
from statistics import median
from time import perf_counter

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from tests.factories import make_lead
from tests.leading.crowd import Crowd

pytestmark = [pytest.mark.bench, pytest.mark.django_db]

RUNS = 11
# The aim of each page, in milliseconds; a machine that is shared is given twice the time.
AIM = 150
PAGES = {
    "progress": "leading:progress",
    "pace and time": "leading:progress_work",
    "outcomes": "leading:progress_outcomes",
    "plan": "leading:plan",
    "make next": "leading:plan_next",
    "costs": "leading:costs",
}


def test_progress_and_plan_are_fast_with_the_whole_benchmark_in_work() -> None:
    Crowd()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    client = Client()
    client.force_login(make_lead())
    addresses = {name: reverse(url) for name, url in PAGES.items()}
    addresses |= {
        "plan as table": f"{reverse('leading:plan')}?as=table",
        "targets": f"{reverse('leading:plan')}?as=targets",
        "progress.csv": f"{reverse('leading:progress')}?csv=progress",
        "API progress": "/api/v1/progress/",
        "API plan": "/api/v1/plan/",
        "API propose": "/api/v1/plan/propose/",
    }
    medians = {name: _median(client, address) for name, address in addresses.items()}
    print(f"\n{connection.vendor}, load {os.getloadavg()[0]:.1f}: medians of {RUNS}, milliseconds")  # noqa: T201 -- the bench reports
    for name, milliseconds in medians.items():
        print(f"  {name:16} {milliseconds:6.0f}")  # noqa: T201 -- the bench reports
    assert {name: ms for name, ms in medians.items() if name in {"progress", "plan"} and ms > 2 * AIM} == {}


def _median(client: Client, address: str) -> float:
    times = []
    for _run in range(RUNS + 1):
        began = perf_counter()
        response = client.get(address)
        assert response.getvalue()  # a file is read to its end
        times.append((perf_counter() - began) * 1000)
        assert response.status_code == 200, address
    return median(times[1:])
