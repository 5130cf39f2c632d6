import json
import lzma
from pathlib import Path
from threading import Thread
from time import process_time

import pytest
from django.test import override_settings
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from documents import tokenizing
from documents.tokenizing import count_tokens, decode, encode

SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "<s>", "[INST]"]
PIECES = st.one_of(
    st.text(max_size=30),
    st.text(alphabet="的一是不了人我在有他这中大来上个国，。：“”《》", max_size=30),
    st.text(alphabet="abc ABC'sdtm0123456789\n\r\t .,;-_", max_size=30),
    st.text(alphabet="éàüñe\u0301\u0308\u0323한글각ᄒ\u1161\u11abがか\u3099", max_size=20),
    st.text(alphabet="😀👩\u200d🔬🇨🇳🇩🇪\ufe0f𠀀𪚥𝒳", max_size=20),
    st.text(alphabet="العربيةहिन्दीไทยעברית", max_size=20),
    st.text(alphabet=" \t\xa0\u3000\u2003\n\rab'sſ5!。", max_size=12),
    st.sampled_from(SPECIALS),
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)


@pytest.fixture(scope="module")
def oracle() -> PreTrainedTokenizerFast:
    """`transformers` over the same tokenizer.json, with nothing special about special tokens."""
    description = json.loads(lzma.decompress(tokenizing.ARCHIVE.read_bytes()))
    description["added_tokens"] = []
    tokenizer = Tokenizer.from_str(json.dumps(description))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=10**9)


@given(text=TEXTS)
@example(text="e\u0301" * 50 + "".join(SPECIALS))
@example(text="  \n\n \t\r\n  x")
@example(text="a  b   5  !\n    c\t\td\u3000\u3000中 \xa0'S  ")
@example(text="a\0  b\0\0 c")
@settings(max_examples=400, deadline=None)
def test_the_count_equals_that_of_transformers(oracle: PreTrainedTokenizerFast, text: str) -> None:
    assert count_tokens(text) == len(oracle.encode(text, add_special_tokens=False))


@given(text=TEXTS)
@settings(max_examples=200, deadline=None)
def test_what_is_encoded_is_decoded_unchanged(text: str) -> None:
    assert decode(encode(text)) == text


@given(text=TEXTS, start=st.integers(0, 40), end=st.integers(0, 60))
@settings(max_examples=200, deadline=None)
def test_a_run_of_ids_is_decoded_at_character_boundaries(text: str, start: int, end: int) -> None:
    part = decode(encode(text)[start:end])
    assert part in text


def test_every_shared_document_has_the_tokens_of_the_manifest(shared_data: Path) -> None:
    rows = [json.loads(line) for line in (shared_data / "documents" / "manifest.jsonl").read_text().splitlines()]
    texts = {row["file"]: (shared_data / "documents" / row["file"]).read_bytes().decode() for row in rows}
    assert {file: count_tokens(text) for file, text in texts.items()} == {
        row["file"]: row["qwen3_tokens"] for row in rows
    }


@pytest.mark.parametrize("blank", [" " * 60_000, "\n" * 60_000, "x" + " \n" * 40_000], ids=["spaces", "lines", "both"])
def test_a_vast_blank_is_counted_like_by_transformers(oracle: PreTrainedTokenizerFast, blank: str) -> None:
    assert count_tokens(blank) == len(oracle.encode(blank, add_special_tokens=False))


ENDLESS = {
    "letters": "a" * 1_200_000,
    "han": "中" * 400_000,
    "spaces": " " * 1_200_000 + "\n" + " " * 300_000 + "x",
    "columns": "a  b\t\t" * 100_000,
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_an_endless_word_or_blank_is_counted_in_no_time(kind: str) -> None:
    begun = process_time()
    assert count_tokens(ENDLESS[kind]) > 1_000
    assert process_time() - begun < 5


def test_a_text_with_half_a_character_is_counted_too() -> None:
    assert count_tokens("a  b\ud800") >= count_tokens("a  b")


def test_an_archive_with_other_content_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "tokenizer.json.xz"
    other.write_bytes(lzma.compress(b"{}"))
    monkeypatch.setattr(tokenizing, "ARCHIVE", other)
    with pytest.raises(ValueError, match="SHA-256"):
        tokenizing.read_description()


def test_several_threads_load_it_once() -> None:
    tokenizing._load.cache_clear()
    counts: list[int] = []
    threads = [Thread(target=lambda: counts.append(count_tokens("harbour"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(counts) == 4
    assert tokenizing._load.cache_info().misses == 1


def test_another_tokenizer_is_taken_from_a_folder(oracle: PreTrainedTokenizerFast, tmp_path: Path) -> None:
    oracle.save_pretrained(tmp_path)
    text = "Heron 苍鹭 😀 <|endoftext|> e\u0301"
    with override_settings(LBP_TOKENIZER=str(tmp_path)):
        assert count_tokens(text) == len(oracle.encode(text, add_special_tokens=False))
        assert decode(encode("Heron 苍鹭 😀")) == "Heron 苍鹭 😀"
