"""A small benchmark whose lengths are counted in eights, so that short texts fill real buckets."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from core.models import BenchmarkSettings

UNIT = 8


@pytest.fixture
def small_lengths(db: None) -> BenchmarkSettings:
    """8k stands for 64 tokens here, give or take 20 %."""
    settings = BenchmarkSettings.load()
    settings.unit, settings.samples_per_cell = UNIT, 1
    settings.save()
    return settings


@pytest.fixture(autouse=True)
def _own_files(settings: Settings, tmp_path: Path) -> Iterator[None]:
    """Files of one test's releases are not another's."""
    settings.MEDIA_ROOT = tmp_path / "files"
    yield
    shutil.rmtree(settings.MEDIA_ROOT, ignore_errors=True)
