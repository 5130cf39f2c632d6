"""ROUGE-L at summary level, with the values of the `rouge` package 1.0.1 but without its recursion.

That package splits a text into sentences at full stops and each sentence into words at spaces, takes for every pair
of a reference and a candidate sentence one longest common subsequence, and compares the *set* of all words in those
subsequences with the sets of words on both sides. Which of several longest subsequences is taken matters, so the
backtracking here prefers the same one.

The table is kept as one integer per reference word whose bits say where a row steps up (bit-parallel; Hyyrö 2004,
"Bit-parallel LCS-length computation revisited"), so that two texts of 4,000 words take a fraction of a second.
"""

from collections.abc import Sequence

SMOOTHING = 1e-8


def rouge_l(candidate: str, reference: str) -> float:
    """The F value, 0.0 to 1.0, of texts with spaces between words; 0.0 where a side has no sentence."""
    candidate_sentences, reference_sentences = _sentences(candidate), _sentences(reference)
    if not candidate_sentences or not reference_sentences:
        return 0.0
    common: set[str] = set()
    for wanted in reference_sentences:
        for given in candidate_sentences:
            common |= common_words(wanted, given)
    precision = len(common) / len({word for sentence in candidate_sentences for word in sentence})
    recall = len(common) / len({word for sentence in reference_sentences for word in sentence})
    return 2.0 * ((precision * recall) / (precision + recall + SMOOTHING))


def _sentences(text: str) -> list[list[str]]:
    """Sentences as lists of words. A piece of white space between two stops is a sentence of one empty word."""
    return [" ".join(piece.split()).split(" ") for piece in text.split(".") if piece]


def common_words(wanted: Sequence[str], given: Sequence[str]) -> set[str]:
    """The words of the longest common subsequence that the package's backtracking would choose."""
    rows = _step_rows(wanted, given)
    words: set[str] = set()
    i, j = len(wanted), len(given)
    while i and j:
        if wanted[i - 1] == given[j - 1]:
            words.add(wanted[i - 1])
            i, j = i - 1, j - 1
        elif rows[i] >> (j - 1) & 1:
            # The row steps up here, so leaving out the candidate's word would lose length: leave out the reference's.
            i -= 1
        else:
            j -= 1
    return words


def _step_rows(wanted: Sequence[str], given: Sequence[str]) -> list[int]:
    """Row i of the length table: bit j is set where the length for given[:j+1] exceeds that for given[:j]."""
    full = (1 << len(given)) - 1
    places: dict[str, int] = {}
    for index, word in enumerate(given):
        places[word] = places.get(word, 0) | 1 << index
    flat = full
    rows = [0]
    for word in wanted:
        matching = flat & places.get(word, 0)
        flat = ((flat + matching) | (flat - matching)) & full
        rows.append(flat ^ full)
    return rows
