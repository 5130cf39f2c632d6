"""Chinese text cut into words by jieba, quietly and safely for several threads and processes."""

import logging
import tempfile
import warnings
from functools import cache
from threading import Lock
from typing import Any

_loading = Lock()


def chinese_words(text: str) -> list[str]:
    """The words of `text` in jieba's default mode; joined they give the text back."""
    with _loading:
        tokenizer = _tokenizer()
    return list(tokenizer.cut(text))


@cache
def _tokenizer() -> Any:
    """A tokenizer of our own, built once per process (about a second).

    jieba keeps its prefix dictionary in a file in the shared temporary folder, where processes starting together
    could read one another's; ours is built in a folder of its own that is gone afterwards. Its logger reports every
    step at debug level through a handler of its own, so it is raised to errors only.
    """
    with warnings.catch_warnings():
        # Old escapes in its sources; an import must not fail where warnings are errors.
        warnings.simplefilter("ignore")
        # 37 MB of dictionary that only summaries in Chinese need.
        import jieba  # noqa: PLC0415

    logging.getLogger("jieba").setLevel(logging.ERROR)
    tokenizer = jieba.Tokenizer()
    with tempfile.TemporaryDirectory(prefix="words-") as folder:
        tokenizer.tmp_dir = folder
        tokenizer.initialize()
    return tokenizer
