"""The embedder that the operator chose for comparing summaries (metrics.md): a server, or a model of the package
sentence-transformers. Without a choice it is the offline one of `benchmark.metrics`.

What is sent to a server are answers of models and reference summaries, never a document.
"""

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from numpy.typing import NDArray

from benchmark.metrics import Embedder, OfflineEmbedder, use_embedder

ENDPOINT, PACKAGE = "endpoint", "sentence-transformers"
KEY = "LBP_KEY_EMBEDDER"
SECONDS = 60.0
PAUSES = (1.0, 3.0)
BATCH = 32
# The references of one sample are compared with each of its answers.
KEPT = 256


class EmbedderFault(RuntimeError):
    """The embedder gave no vectors. The scores wait: they are made when it answers again."""


class EndpointEmbedder:
    """A server with OpenAI's interface: vLLM, TEI, a provider."""

    def __init__(self, model: str, url: str, *, key: str = "", pauses: Sequence[float] = PAUSES) -> None:
        self.name = f"{model} (endpoint)"[-80:]
        self._model, self._url, self._key, self._pauses = model, url.rstrip("/") + "/embeddings", key, tuple(pauses)
        self._kept: OrderedDict[str, NDArray[np.float64]] = OrderedDict()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
        found = dict(self._kept)
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            found.update(zip(batch, self._ask(batch), strict=True))
        for text in texts:
            self._kept[text] = found[text]
            self._kept.move_to_end(text)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return np.stack([found[text] for text in texts]) if texts else np.empty((0, 0))

    def _ask(self, texts: list[str]) -> NDArray[np.float64]:
        import httpx  # noqa: PLC0415 -- only where a server was chosen

        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        why = ""
        for pause in (*self._pauses, None):
            try:
                body = {"model": self._model, "input": texts, "encoding_format": "float"}
                answer = httpx.post(self._url, json=body, headers=headers, timeout=SECONDS, trust_env=False)
                if answer.status_code == 200:
                    return _vectors(answer.json(), len(texts))
                why = f"it answered {answer.status_code}"
                if answer.status_code not in {408, 429} and answer.status_code < 500:
                    break
            except httpx.HTTPError as error:
                why = type(error).__name__
            if pause is not None:
                time.sleep(pause)
        # Never the body: it may repeat what was sent.
        raise EmbedderFault(f"The embedding server gave no vectors: {why}.")


def _vectors(body: Any, count: int) -> NDArray[np.float64]:
    try:
        rows = sorted(body["data"], key=lambda row: int(row["index"]))
        vectors = np.asarray([row["embedding"] for row in rows], dtype=np.float64)
    except (KeyError, TypeError, ValueError):
        raise EmbedderFault("The embedding server's answer is not in OpenAI's form.") from None
    if vectors.ndim != 2 or len(vectors) != count or not np.isfinite(vectors).all():
        raise EmbedderFault(f"The embedding server gave {len(vectors)} vectors for {count} texts, or no numbers.")
    return vectors


class PackageEmbedder:
    """Any model of the package sentence-transformers, by name or folder."""

    def __init__(self, model: str) -> None:
        try:
            from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found] # noqa: PLC0415
        except ImportError:
            words = "LBP_EMBEDDER names a model of sentence-transformers: install that package, or leave it empty."
            raise ImproperlyConfigured(words) from None
        self.name = f"{model} (sentence-transformers)"[-80:]
        self._model = SentenceTransformer(model)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        return np.asarray(self._model.encode(list(texts)), dtype=np.float64)


def chosen(setting: str, url: str) -> Callable[[], Embedder]:
    """What makes the embedder. Raises ImproperlyConfigured for a setting that names none."""
    kind, _colon, model = setting.strip().partition(":")
    if not setting.strip():
        return OfflineEmbedder
    if kind == ENDPOINT and model:
        if not url.startswith(("http://", "https://")):
            raise ImproperlyConfigured("LBP_EMBEDDER names a server: give its address in LBP_EMBEDDER_URL.")
        return lambda: EndpointEmbedder(model, url, key=os.environ.get(KEY, ""))
    if kind == PACKAGE and model:
        return lambda: PackageEmbedder(model)
    raise ImproperlyConfigured(f"LBP_EMBEDDER is {ENDPOINT}:MODEL, {PACKAGE}:NAME, or empty.")


def use_the_chosen() -> None:
    use_embedder(chosen(settings.LBP_EMBEDDER, settings.LBP_EMBEDDER_URL))
