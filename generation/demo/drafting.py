"""How a simulated model drafts: three questions made from the document, each with its answer solved from it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from generation.demo.asking import QUOTED, SUMMARY, Asked, Draw, Kind, worded
from generation.demo.chance import Chance
from generation.demo.errors import other_lines, spoiled
from generation.demo.kinds import kinds_for, last_resorts
from generation.demo.picking import altered
from generation.demo.reading import DraftingRequest
from generation.demo.text import CHINESE, ENGLISH, Document

DRAFTS = 3
_TRIES = 8
_LEAST = {"NDCG": 2, "Pairwise": 3, "Accuracy": 1, "Summary": 3, "F1": 1, "SubEM": 1}


@dataclass(frozen=True)
class Draft:
    question: str
    elements: str
    options: tuple[str, ...]
    answer: tuple[str, ...]
    rationale: str
    solution: tuple[tuple[str, str], ...]

    def as_json(self) -> dict[str, object]:
        return {
            "question": self.question,
            "elements": self.elements,
            "options": list(self.options),
            "answer": list(self.answer),
            "rationale": self.rationale,
            "solution": [{"step": step, "quote": quote} for step, quote in self.solution],
        }


def drafted(request: DraftingRequest, chance: Chance, *, first_kind: int, flaw_rate: float) -> list[Draft]:
    """Up to three different drafts; fewer only when the document holds too little to ask about."""
    document = Document(request.document)
    draw = Draw(document, chance, request.language)
    kinds = kinds_for(request.task)
    drafts: list[Draft] = []
    for turn in range(DRAFTS):
        for draft in _attempts(draw, request.task, kinds, first_kind + turn):
            if all(_key(draft) != _key(other) for other in drafts):
                drafts.append(_flawed(draw, draft, kinds[0].metric) if chance.unit() < flaw_rate else draft)
                break
    return drafts


def reply_text(drafts: list[Draft], chance: Chance) -> str:
    """The JSON object; now and then inside a code fence, as real models send it."""
    text = json.dumps({"drafts": [draft.as_json() for draft in drafts]}, ensure_ascii=False)
    return f"```json\n{text}\n```" if chance.unit() < 0.1 else text


def _key(draft: Draft) -> tuple[str, tuple[str, ...]]:
    return draft.question, draft.options


def _attempts(draw: Draw, task: str, kinds: tuple[Kind, ...], first: int) -> Iterator[Draft]:
    in_turn = [kinds[(first + place) % len(kinds)] for place in range(len(kinds))]
    for kind in (*in_turn, *last_resorts(kinds[0].metric)):
        for _ in range(_TRIES):
            asked = kind.make(draw)
            if asked is None:
                continue
            answer = kind.solve(draw.document, asked, draw.language)
            if _sound(answer, kind.metric):
                yield _written(draw, task, kind, asked, answer)


def _sound(answer: list[str], metric: str) -> bool:
    different = {" ".join(line.lower().split()) for line in answer}
    return len(answer) >= _LEAST[metric] and len(different) == len(answer) and all(line.strip() for line in answer)


# --- writing a draft out ---------------------------------------------------------------------------------------------

_WORDS = {
    ENGLISH: {
        "rationale": "{reason}, as {task} requires. The question rests on {quotes} and on nothing outside the document."
        " Counting and comparing by the stated condition leaves one answer only, which anyone can check by searching "
        "the document.",
        "quotes": "the quoted places",
        "find": "Find the place that the question turns on.",
        "term": "The term “{term}” stands here.",
        "end": "Applying the stated condition to all places found gives: {answer}.",
        "joint": "; ",
    },
    CHINESE: {
        "rationale": "{reason}，符合{task}的要求。问题只依据{quotes}，不涉及文档之外的知识。"
        "按所述条件统计和比对，答案唯一，任何人都可在文档中检索核对。",
        "quotes": "所引的原文位置",
        "find": "找到问题所依据的位置。",
        "term": "词语“{term}”出现在这里。",
        "end": "对找到的全部位置应用所述条件，得到：{answer}。",
        "joint": "；",
    },
}


def _written(draw: Draw, task: str, kind: Kind, asked: Asked, answer: list[str]) -> Draft:
    words = _WORDS[draw.language]
    rationale = words["rationale"].replace("{reason}", kind.reason[draw.language])
    rationale = rationale.replace("{task}", task).replace("{quotes}", words["quotes"])
    return Draft(
        question=worded(draw.chance.pick(kind.wordings[draw.language]), asked, draw.language),
        elements=kind.elements[draw.language],
        options=asked.options,
        answer=tuple(answer),
        rationale=rationale,
        solution=(*_evidence(draw, kind, asked), (words["end"].replace("{answer}", _short(answer, words)), "")),
    )


def _short(answer: list[str], words: dict[str, str]) -> str:
    text = words["joint"].join(answer)
    return text if len(text) <= 300 else f"{text[:300]}…"


def _evidence(draw: Draw, kind: Kind, asked: Asked) -> tuple[tuple[str, str], ...]:
    """Steps with verbatim quotes: the passages named, the options that stand in the document, terms in their lines."""
    document, words = draw.document, _WORDS[draw.language]
    quotes = [asked.passage] if asked.passage else []
    for part in (asked.part, asked.later):
        quotes += [part.first, part.last] if part and part.first else []
    quotes += [text for _, text in asked.labelled if len(text) > 5 and text in document.text][:3]
    terms = asked.terms or tuple(_terms_of(asked))
    if kind.metric == SUMMARY or not (quotes or terms):
        quotes += document.passages(draw.chance, 2, asked.part)
    steps = [(words["find"], quote) for quote in quotes[:4]]
    for term in terms[:3]:
        places = document.places(term, asked.part) or document.places(term)
        if places:
            steps.append((words["term"].replace("{term}", term), _around(document, places[0], len(term))))
    return tuple(steps)


def _terms_of(asked: Asked) -> list[str]:
    """The terms that stand in the options: alone, or quoted in a record."""
    found = []
    for _, text in asked.labelled:
        quoted = QUOTED.search(text)
        found.append(quoted.group(1) if quoted else text)
    return found


def _around(document: Document, place: int, length: int) -> str:
    """The stretch of the line around a term, cut so that it can be read at a glance."""
    line = document.line_at(place)
    start, end = max(line.start, place - 40), min(line.end, place + length + 40)
    return document.text[start:end].strip()


# --- flaws -----------------------------------------------------------------------------------------------------------


def _flawed(draw: Draw, draft: Draft, metric: str) -> Draft:
    """A quote that does not stand in the document, or an answer that is not right."""
    quoted = [place for place, (_, quote) in enumerate(draft.solution) if len(quote) > 10]
    if quoted and (metric == SUMMARY or draw.chance.unit() < 0.5):
        place = draw.chance.pick(quoted)
        step, quote = draft.solution[place]
        invented = altered(draw, altered(draw, quote) or quote) or f"{quote} {quote[::-1]}"
        steps = [*draft.solution]
        steps[place] = (step, invented)
        return replace(draft, solution=tuple(steps))
    if metric == SUMMARY:
        return draft
    others = other_lines(Asked(options=draft.options), draft.answer)
    wrong = spoiled(draw.chance, metric, draft.answer, others)
    return replace(draft, answer=tuple(wrong)) if _sound(wrong, metric) else draft
