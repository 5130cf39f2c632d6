"""The work that waits in rows, done in this process until nothing is left: for `simulate`, commands and tests."""

import annotation.drafting
import annotation.receiving
import documents.batches
import generation.sending
import release.building
import release.labelling
import review.opening

# More rounds than any chain of stages is long: a longer one is a fault that must not spin for ever.
MOST_ROUNDS = 100


def one_round() -> int:
    """Take up what waits at every stage once, upper stages after lower ones. Returns how much was moved."""
    return (
        documents.batches.work_off()
        + annotation.drafting.work_off()
        + generation.sending.work_off()
        + annotation.receiving.work_off()
        + review.opening.work_off()
        + release.labelling.work_off()
        + release.building.work_off()
    )


def work_off() -> int:
    """Everything that waits, until nothing moves."""
    done = 0
    for _round in range(MOST_ROUNDS):
        moved = one_round()
        done += moved
        if not moved:
            return done
    raise RuntimeError(f"the waiting work did not come to an end in {MOST_ROUNDS} rounds")
