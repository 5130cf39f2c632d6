"""Which accepted samples a quality audit draws."""

import random
from collections import Counter, defaultdict

from annotation.models import Sample
from annotation.workflow import SampleState
from documents.workflow import VersionState


def auditable() -> list[Sample]:
    """Accepted samples whose document is still approved."""
    return list(
        Sample.objects.filter(state=SampleState.ACCEPTED, document_version__state=VersionState.APPROVED)
        .select_related("document", "document_version")
        .order_by("pk")
    )


Cell = tuple[str, str, str]


def cell_of(sample: Sample) -> Cell:
    return sample.task_code, sample.language.value, sample.bucket


def draw_one(samples: list[Sample], *, beside: list[Sample], like: Sample, seed: int) -> Sample | None:
    """One more, like the given one while there is one: else of the cells that `beside` holds least of."""
    alike = [sample for sample in samples if cell_of(sample) == cell_of(like)]
    if not alike:
        held = Counter(map(cell_of, beside))
        fewest = min((held[cell_of(sample)] for sample in samples), default=0)
        alike = [sample for sample in samples if held[cell_of(sample)] == fewest]
    return draw(alike, size=1, seed=seed)[0] if alike else None


def draw(samples: list[Sample], *, size: int, seed: int) -> list[Sample]:
    """Uniform over task, language and bucket: the cells take turns, in a shuffled order, until `size` are drawn.

    The same samples, size and seed give the same draw.
    """
    chance = random.Random(seed)  # noqa: S311 -- a draw that can be repeated, not a secret
    cells: dict[Cell, list[Sample]] = defaultdict(list)
    for sample in sorted(samples, key=lambda sample: sample.pk):
        cells[cell_of(sample)].append(sample)
    order = sorted(cells)
    chance.shuffle(order)
    for cell in order:
        chance.shuffle(cells[cell])
    drawn: list[Sample] = []
    while len(drawn) < size and any(cells.values()):
        drawn += [cells[cell].pop() for cell in order if cells[cell]]
    return drawn[:size]
