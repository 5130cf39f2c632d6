"""A desk as it looks in the middle of the work: five models with three drafts each, at every step, some of them asking
the same. Texts are real enough to read; quotes stand in the document, but for one that is close and one that is not."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation import actions
from annotation.models import Candidate, Participation, Sample
from annotation.workflow import CandidateState, Job, SampleState
from benchmark.taxonomy import Language
from core.models import User
from documents.models import DocumentVersion
from documents.queries import text_of
from generation.evidence import find_quote
from generation.models import Call, Draft, LanguageModel
from generation.workflow import Purpose
from tests.annotation.scenes import bring, challenged
from tests.factories import make_call, make_claim, make_model, make_run, make_version

MODELS = ("Gemini-2.5-Pro", "GPT-5", "Claude-4-Sonnet", "DeepSeek-V3.2", "Qwen3-235B-Thinking")

QUESTIONS = {
    Language.ENGLISH: (
        "Who may change the status of a berth, and in which order are they asked?",
        "Which ships paid a late fee, largest fee first? Give each ship once.",
        "What is a berth?",
        "List the ships that paid a late fee, ordered from the largest fee to the smallest.",
        "Which duties of the harbour master come before the first of May?",
        "Name the author of the log.",
        "Put the steps from arrival to release of a ship in the order of the log.",
        "Which ships paid a late fee? Order them by the fee, descending.",
        "Should the log be shorter?",
        "How many crowns did the ferry cost?",
        "Which places are named for repairs of the mole?",
        "List the ships that left for the north before the storm.",
        "Which years of other logs are cited, earliest first?",
        "Which crossings needed the consent of both keepers?",
        "Order the ships by their place in the log, smallest fee first.",
    ),
    Language.CHINESE: (
        "谁可以更改泊位的状态，按什么顺序征求意见？",
        "哪些船缴纳了滞纳金？请按金额从大到小排列。",
        "什么是泊位？",
        "请列出缴纳滞纳金的船只，金额由高到低排序。",
        "港务长在五月一日之前有哪些职责？",
        "航海日志的作者是谁？",
        "按日志的先后，列出船只从入港到放行的步骤。",
        "缴纳了滞纳金的船有哪些？按金额降序写出。",
        "日志是否应当更短？",
        "渡船造价多少克朗？",
        "防波堤修缮提到哪些地点？",
        "列出风暴之前北上的船只。",
        "引用了哪些年份的其他日志，按年份升序？",
        "哪些渡口须经两位守望人同意？",
        "按日志中的位置列出各船，金额从小到大。",
    ),
}
STEPS = {
    Language.ENGLISH: (
        ("The fees are listed in one sentence of the log.", "The Marigold paid a late fee of twelve crowns"),
        ("The two others follow in the same sentence.", "the Heron one of nine, the Tern one of four"),
        ("The storm came later and changes nothing.", "In June a storm broke the mole"),
    ),
    Language.CHINESE: (
        ("滞纳金写在同一句话里。", "金盏号缴纳滞纳金十二克朗"),
        ("其余两艘紧随其后。", "苍鹭号九克朗，燕鸥号四克朗"),
        ("风暴在后，与答案无关。", "六月，风暴冲毁防波堤"),
    ),
}
ANSWER = {Language.ENGLISH: ["Marigold", "Heron", "Tern"], Language.CHINESE: ["金盏号", "苍鹭号", "燕鸥号"]}
ELEMENTS = {Language.ENGLISH: "the ship names in order of the fee", Language.CHINESE: "按金额排列的船名"}
RATIONALE = {
    Language.ENGLISH: "Every fee stands in one paragraph, far from the list of ships, so both have to be joined.",
    Language.CHINESE: "各项金额与船名分处两段，须合并阅读才能作答，答案唯一且可核实。",
}
CLOSE = {
    Language.ENGLISH: "The Marigolds paid a late fee of twelve krowns",
    Language.CHINESE: "金盏号缴纳了滞纳金十二个克朗",
}
MISSING = {Language.ENGLISH: "the ferry was sold to the abbey", Language.CHINESE: "渡船卖给了修道院所有"}


@dataclass(frozen=True)
class Fifteen:
    sample: Sample
    annotator: User

    def candidate(self, position: int) -> Candidate:
        return self.sample.candidates.select_related("sample").get(position=position)


def fifteen(
    annotator: User,
    *,
    language: str = Language.ENGLISH,
    version: DocumentVersion | None = None,
    fresh: bool = False,
    quotes: Sequence[str] = (),
) -> Fifteen:
    """Claimed by the annotator. Fresh: all to read. Else: passed, discarded, waiting, stale and open ones. `quotes`
    are passages of another document than the factory's."""
    language = Language(language)
    version = version or make_version(language=language)
    run = make_run(version, purpose=Purpose.DRAFTING, task_code="T1.2")
    sample = Sample.objects.create(
        document=version.document,
        document_version=version,
        task_code="T1.2",
        state=SampleState.IN_VERIFICATION,
        drafting_run=run,
        annotator=annotator,
    )
    text = text_of(version)
    for model_place, name in enumerate(MODELS):
        model = LanguageModel.objects.filter(name=name).first() or make_model(name, position=model_place)
        call = make_call(run, model)
        for draft_place in range(3):
            _draft(sample, call, 3 * model_place + draft_place, language, text, quotes)
    Participation.objects.create(sample=sample, person=annotator, job=Job.VERIFIES)
    make_claim(sample, annotator)
    made = Fifteen(sample, annotator)
    if not fresh:
        _in_the_middle(made)
    return made


def _draft(sample: Sample, call: Call, place: int, language: Language, text: str, given: Sequence[str]) -> None:
    quotes = [("It stands here.", quote) for quote in given] or list(STEPS[language])
    if place % 5 == 2:
        quotes.append(("A further step.", CLOSE[language]))
    if place % 7 == 3:
        quotes.append(("The ferry is out of it.", MISSING[language]))
    draft = Draft.objects.create(
        call=call,
        position=place % 3 + 1,
        question=QUESTIONS[language][place],
        elements=ELEMENTS[language],
        answer=ANSWER[language] if place in {1, 3, 7} else [f"{name} {place}" for name in ANSWER[language]],
        rationale=RATIONALE[language],
        solution=[_step(step, quote, text) for step, quote in quotes],
    )
    Candidate.objects.create(
        sample=sample,
        draft=draft,
        position=place + 1,
        question=draft.question,
        elements=draft.elements,
        answer=draft.answer,
    )


def _step(step: str, quote: str, text: str) -> dict[str, object]:
    found = find_quote(text, quote)
    return {
        "step": step,
        "quote": quote,
        "kind": found.kind.value,
        "start": found.start,
        "end": found.end,
        "score": found.score,
    }


def _in_the_middle(made: Fifteen) -> None:
    by = made.annotator
    for position in (1, 7, 14):
        bring(made.candidate(position), CandidateState.PASSED, by, wrong=2)
    _discard(made, (3, 6, 9, 10), "Trivial")
    bring(made.candidate(2), CandidateState.TASK_B, by)
    challenged(bring(made.candidate(8), CandidateState.TASK_C, by), by, wrong=1, waiting=3)
    stale = bring(made.candidate(11), CandidateState.TASK_C, by)
    challenged(stale, by, wrong=2)
    actions.edit_candidate(candidate=stale, version=1, answer=[*stale.answer, "Gull"], by=by)
    bring(stale, CandidateState.TASK_B, by)
    actions.judge_task_b(candidate=stale, version=2, verdict="minor_edit", checks=[True] * 4, by=by)


def _discard(made: Fifteen, positions: Sequence[int], reason: str) -> None:
    for position in positions:
        actions.discard_candidate(candidate=made.candidate(position), reason=reason, by=made.annotator)
