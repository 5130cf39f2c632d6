"""Summaries: half semantic similarity, half ROUGE-L, each to the reference it is closest to."""

from collections.abc import Callable, Sequence

from benchmark.elements import comparable
from benchmark.metrics.embedding import Embedder, cosine, default_embedder
from benchmark.metrics.reading import answer_text
from benchmark.metrics.rouge_l import rouge_l
from benchmark.metrics.words import chinese_words
from benchmark.taxonomy import Language


def summary(
    references: Sequence[str],
    reply: str,
    *,
    language: Language,
    public: bool = False,
    embedder: Embedder | None = None,
) -> float:
    """0.5 x best similarity + 0.5 x best ROUGE-L F; an empty summary scores 0.0.

    What follows the identifier is scored, as the paper says. The public evaluator scores the whole reply, identifier
    included: `public=True` does the same.
    """
    text = comparable(reply if public else answer_text(reply))
    wanted = [comparable(reference) for reference in references]
    if not text or not wanted:
        return 0.0
    similarity = best_similarity(text, wanted, embedder=embedder or default_embedder)
    # A cosine may fall below zero for unrelated texts; a score does not.
    return max(0.0, 0.5 * similarity + 0.5 * best_rouge_l(text, wanted, language=language))


def best_rouge_l(text: str, references: Sequence[str], *, language: Language) -> float:
    """The highest ROUGE-L F over the references. Texts in comparable form."""
    if text in references and any(character.isalnum() for character in text):
        # All words common on both sides, whatever they are: no need to cut the text into words.
        return rouge_l("same", "same")
    given = spaced(text, language)
    return max(rouge_l(given, spaced(reference, language)) for reference in references)


def best_similarity(text: str, references: Sequence[str], *, embedder: Embedder | Callable[[], Embedder]) -> float:
    """The highest cosine over the references; 1.0 for an equal text, for which no model is asked."""
    if text in references:
        return 1.0
    model = embedder() if callable(embedder) else embedder
    vectors = model.embed([text, *references])
    return max(cosine(vectors[0], vector) for vector in vectors[1:])


def spaced(text: str, language: Language) -> str:
    """The text with spaces between its words: as it stands in English, as jieba cuts it in Chinese."""
    return " ".join(chinese_words(text)) if language == Language.CHINESE else text
