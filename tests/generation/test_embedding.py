"""The embedder that the operator chose: a local server with OpenAI's interface, faults in words, nothing leaked."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured

from benchmark.metrics import OfflineEmbedder, default_embedder, is_of_the_paper, score, use_embedder
from benchmark.taxonomy import Language
from generation.embedding import EmbedderFault, EndpointEmbedder, PackageEmbedder, chosen

pytestmark = pytest.mark.once


class Letters(BaseHTTPRequestHandler):
    """Counts letters: one vector a text, given in the wrong order on purpose. `faults` are answered first."""

    asked: ClassVar[list[dict[str, Any]]] = []
    keys: ClassVar[list[str]] = []
    faults: ClassVar[list[tuple[int, Any]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body)
        self.keys.append(self.headers.get("Authorization", ""))
        status, answer = self.faults.pop(0) if self.faults else (200, self.vectors(body["input"]))
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    @staticmethod
    def vectors(texts: list[str]) -> dict[str, Any]:
        rows = [
            {"index": place, "embedding": [float(text.count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"]}
            for place, text in enumerate(texts)
        ]
        return {"data": rows[::-1]}

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Letters.asked, Letters.keys, Letters.faults = [], [], []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Letters)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1/"
    server.shutdown()
    server.server_close()


def test_a_server_embeds_in_order_each_text_once_with_its_key(url: str) -> None:
    embedder = EndpointEmbedder("Qwen/Qwen3-Embedding-8B", url, key="secret")
    first = embedder.embed(["abc", "aab", "abc"])
    assert first[:, :2].tolist() == [[1.0, 1.0], [2.0, 1.0], [1.0, 1.0]]
    assert np.array_equal(embedder.embed(["aab"])[0], first[1])
    assert [body["input"] for body in Letters.asked] == [["abc", "aab"]]
    assert Letters.keys == ["Bearer secret"]
    assert embedder.name == "Qwen/Qwen3-Embedding-8B (endpoint)"
    assert is_of_the_paper(embedder.name)
    assert not is_of_the_paper(OfflineEmbedder.name)


def test_what_passes_is_tried_again_and_what_does_not_is_told_without_what_was_sent(url: str) -> None:
    embedder = EndpointEmbedder("m", url, pauses=(0.0, 0.0))
    Letters.faults = [(503, {}), (429, {})]
    assert embedder.embed(["abc"]).shape == (1, 26)
    Letters.faults = [(401, {"error": "private words"})]
    with pytest.raises(EmbedderFault, match="it answered 401") as fault:
        embedder.embed(["private words"])
    assert "private" not in str(fault.value)
    assert len(Letters.asked) == 4
    odd: list[Any] = [{"data": []}, {"vectors": 1}, {"data": [{"index": 0, "embedding": ["x"]}]}]
    for wrong in odd:
        Letters.faults = [(200, wrong)]
        with pytest.raises(EmbedderFault):
            embedder.embed(["new"])
    with pytest.raises(EmbedderFault, match="ConnectError"):
        EndpointEmbedder("m", "http://127.0.0.1:9/v1", pauses=()).embed(["abc"])


def test_summaries_are_scored_with_the_embedder_that_was_chosen(url: str) -> None:
    try:
        use_embedder(chosen("endpoint:letters", url))
        assert default_embedder().name == "letters (endpoint)"
        references = ["the fog closed", "fog in the port", "no ship sailed"]
        value = score("Summary", language=Language.ENGLISH, answer=references, prediction="[Answer]\nclosed fog")
        assert 0.0 < value < 1.0
        assert Letters.asked
    finally:
        use_embedder(OfflineEmbedder)
    assert default_embedder().name == OfflineEmbedder.name


@pytest.mark.parametrize(
    ("setting", "url", "words"),
    [
        ("endpoint:m", "", "LBP_EMBEDDER_URL"),
        ("endpoint:", "http://x/v1", "endpoint:MODEL"),
        ("Qwen3", "", "endpoint:MODEL"),
    ],
)
def test_a_setting_that_names_none_is_refused_in_words(setting: str, url: str, words: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=words):
        chosen(setting, url)


def test_a_package_that_is_not_there_is_named() -> None:
    make = chosen("sentence-transformers:some/model", "")
    try:
        import sentence_transformers  # type: ignore[import-not-found] # noqa: F401, PLC0415
    except ImportError:
        with pytest.raises(ImproperlyConfigured, match="install that package"):
            make()
        with pytest.raises(ImproperlyConfigured):
            PackageEmbedder("some/model")
