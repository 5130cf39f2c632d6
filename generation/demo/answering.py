"""How a simulated model answers: it solves the question again from prompt and document, then errs by its skill."""

import re

from generation.demo.asking import QUOTED, SUMMARY, Asked, recognised
from generation.demo.chance import Chance
from generation.demo.errors import other_lines, spoiled
from generation.demo.kinds import KINDS
from generation.demo.kinds.summaries import references
from generation.demo.reading import AnsweringRequest
from generation.demo.text import CHINESE, ENGLISH, Document, Part

IDENTIFIER = {ENGLISH: "[Answer]", CHINESE: "[答案]"}
_SPREAD = 0.9
_SUMMARY_WORDS = re.compile(r"summar|condense|概括|概述|摘要|总结", re.IGNORECASE)
_LETTER_WORDS = re.compile(r"option letter|选项|字母", re.IGNORECASE)


def answered(request: AnsweringRequest, chance: Chance, *, skill: float) -> list[str]:
    """The lines of the answer. A skill of 1.0 or more never errs."""
    document = Document(request.document)
    found = recognised(KINDS, request.question, request.options, document)
    if found is None:
        return best_guess(request, document)
    kind, asked = found
    lines = kind.solve(document, asked, request.language)
    if kind.metric == SUMMARY:
        lines = lines[:1]
    if not lines:
        return best_guess(request, document)
    if skill >= 1 or chance.unit() < likelihood(skill, request):
        return lines
    if kind.metric == SUMMARY:
        return _other_summary(document, asked, request.language, chance) or lines
    return spoiled(chance, kind.metric, lines, other_lines(asked, lines))


def likelihood(skill: float, request: AnsweringRequest) -> float:
    """How likely a right answer is: some questions are hard for all models, others easy."""
    ease = Chance("ease", request.question, *request.options).unit()
    return min(0.97, max(0.03, skill + (ease - 0.5) * _SPREAD))


def _other_summary(document: Document, asked: Asked, language: str, chance: Chance) -> list[str]:
    """A summary of the wrong place, and a short one."""
    size = max(200, len(document.text) // 10)
    start = chance.below(max(1, len(document.text) - size))
    elsewhere = Part(start, min(len(document.text), start + size))
    wrong = references(document, Asked(part=elsewhere, n=max(12, asked.n // 4)), language)
    return wrong[:1]


# --- questions of no known kind --------------------------------------------------------------------------------------


def best_guess(request: AnsweringRequest, document: Document) -> list[str]:
    """An honest attempt at a question that was not understood, by its outer form and the words it quotes."""
    labelled = Asked(options=request.options).labelled
    terms = tuple(QUOTED.findall(request.question))
    if labelled and (_LETTER_WORDS.search(request.elements) or not terms):
        return [_likeliest(document, labelled)]
    if _SUMMARY_WORDS.search(request.question + request.elements):
        limit = re.search(r"\d+", request.question)
        found = references(document, Asked(n=int(limit.group()) if limit else 100), request.language)
        return found[:1] or ["-"]
    present = [term for term in terms if document.stands(term)]
    if present:
        return sorted(present, key=lambda term: document.places(term)[0])
    return [_near_question(document, request.question)]


def _likeliest(document: Document, labelled: list[tuple[str, str]]) -> str:
    """The option whose words stand in the document most often; word for word beats all."""

    def weight(option: tuple[str, str]) -> float:
        text = option[1]
        if text in document.text:
            return 2.0
        pieces = text.split() if " " in text else [text[place : place + 2] for place in range(len(text) - 1)]
        return sum(piece in document.text for piece in pieces) / max(1, len(pieces))

    return max(labelled, key=weight)[0]


def _near_question(document: Document, question: str) -> str:
    """A term from the neighbourhood of the question's rarest word."""
    asked = Document(question).terms
    known = [(document.count(term), term) for term in list(asked)[:40] if document.stands(term)]
    if not known:
        return next(iter(document.terms), "") or document.text.strip()[:20].split("\n")[0] or "-"
    place = document.places(min(known)[1])[0]
    near = document.terms_in(Part(max(0, place - 300), min(len(document.text), place + 300)))
    return next((term for term in near if term not in asked), min(known)[1])
