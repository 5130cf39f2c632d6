"""Drafting to standardization with the simulated models, everything worked off in process."""

import pytest

from annotation import actions, receiving
from annotation.models import Candidate, Sample
from annotation.queries import challenge_results
from annotation.standardizing import first_parts, render
from annotation.workflow import SampleState
from benchmark.taxonomy import Language
from core.models import BenchmarkSettings
from documents.actions import approve_version, import_document
from generation import sending
from generation.panels import ensure_panel
from tests.annotation.scenes import ALL_FOUR, ALL_SEVEN
from tests.factories import make_annotator, make_expert, make_lead

pytestmark = pytest.mark.django_db(transaction=True)

ENGLISH = "".join(
    f"In the year {1700 + n} the brig {name} of captain {captain} paid a late fee of {n + 3} crowns in the harbour.\n\n"
    for n, (name, captain) in enumerate(
        [("Heron", "Aldous"), ("Tern", "Birger"), ("Marigold", "Corin"), ("Gannet", "Doran"), ("Petrel", "Edda")] * 12
    )
)
CHINESE = "\n\n".join(
    f"第{place}日，{sentence}"
    for place, sentence in enumerate(
        [
            "苍鹭号载盐入港，船长阿尔多缴纳滞纳金十二克朗，随即卸货。",
            "燕鸥号驶往北方，水手们在甲板上修补帆布，晚间遇到浓雾。",
            "风暴冲毁了防波堤，渡船沉没，守塔人敲钟示警直到天亮。",
            "商会召集会议，讨论税率与仓库租金，争论持续到深夜。",
            "医生从邻镇赶来，为受伤的木匠包扎，并留下三瓶药水。",
            "集市重新开放，渔民出售鲱鱼与牡蛎，面包价格略有下降。",
            "信使带来首都的公文，要求清点火药、粮食和船只数量。",
            "金盏号修理完毕，工匠更换了桅杆，船主付清全部工钱。",
            "教师在礼堂讲授天文，孩子们第一次看见木星的卫星。",
            "法官宣判走私案，没收香料二十箱，被告当庭表示服从。",
            "河水两次上涨，桥梁没有倒塌，桥工仍然加固了石墩。",
            "海燕号救起落水的旅客，镇长授予船员一枚银质奖章。",
        ]
        * 3,
        1,
    )
)


@pytest.mark.parametrize(("language", "text"), [(Language.ENGLISH, ENGLISH), (Language.CHINESE, CHINESE)])
def test_a_document_becomes_a_standardized_question(language: Language, text: str) -> None:
    ensure_panel("demo")
    BenchmarkSettings.load()
    BenchmarkSettings.objects.update(targets=[2], tolerance_percent=99)
    lead, annotator, expert = make_lead(), make_annotator(), make_expert()
    version = import_document(
        data=text.encode(), file_name="log.txt", by=lead, language=language.value, title="Harbour log"
    )
    approve_version(version=version, by=make_annotator())
    sample = actions.create_sample(document=version.document, task_code="T1.2", by=lead)
    actions.draft_sample(sample=sample, by=lead)
    sending.work_off()
    assert receiving.work_off() == 1
    claimed = actions.claim_next(by=annotator)
    assert claimed == sample
    assert claimed.candidates.count() == 15
    chosen = _first_that_passes(claimed.pk, annotator)
    sample = Sample.objects.get(pk=sample.pk)
    actions.select_candidate(sample=sample, candidate=chosen, by=annotator)
    actions.submit_sample(sample=sample, checklist=ALL_SEVEN, by=annotator)
    actions.claim_for_judging(sample=sample, by=expert)
    actions.approve_sample(sample=sample, by=expert)
    _standardize(sample, annotator)
    assert sample.state == SampleState.AWAITING_PREDICTIONS


def _first_that_passes(sample: int, by: object) -> Candidate:
    candidates = list(Candidate.objects.filter(sample=sample).select_related("sample")[:3])
    for candidate in candidates:
        actions.read_candidate(candidate=candidate, by=by)  # type: ignore[arg-type]
        for judge, verdict in ((actions.judge_task_a, "compliant"), (actions.judge_task_b, "correct")):
            judge(candidate=candidate, version=1, verdict=verdict, checks=ALL_FOUR, by=by)  # type: ignore[arg-type]
        actions.challenge_candidate(candidate=candidate, version=1, by=by)  # type: ignore[arg-type]
    assert sending.work_off() == len(candidates)
    for candidate in candidates:
        results = challenge_results(candidate)
        assert results is not None
        assert len(results.answers) == 5
        assert results.is_finished
        verdict = "challenging" if results.wrong else "valuable"
        actions.judge_task_c(candidate=candidate, version=1, verdict=verdict, reason="Two places.", by=by)  # type: ignore[arg-type]
    return candidates[0]


def _standardize(sample: Sample, by: object) -> None:
    """The example is the answer's own form with other words."""
    parts = first_parts(sample)
    example = ["Gull", "Swan"] if sample.language is Language.ENGLISH else ["海鸥", "天鹅"]
    description = "Which of the terms are used?" if sample.language is Language.ENGLISH else "文中使用了哪些词语？"
    saved = actions.save_standardization(
        sample=sample,
        version=0,
        task_description=description,
        elements=parts.elements,
        supplementary=parts.supplementary,
        example=example,
        by=by,  # type: ignore[arg-type]
    )
    assert render(sample, saved.parts).errors == []
    actions.complete_standardization(sample=sample, version=saved.version, by=by)  # type: ignore[arg-type]
