import time

import pytest

from documents.findings import Kind, findings_in, personal_data_in


def found(text: str) -> list[tuple[str, str]]:
    return [(finding.kind.value, text[finding.start : finding.end]) for finding in findings_in(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mail a.b+c@example.co.uk now", [("email", "a.b+c@example.co.uk")]),
        ("请写信给王宁wang@example.cn。", [("email", "wang@example.cn")]),
        ("手机13812345678，座机 010 62345678", [("phone", "13812345678"), ("phone", "010 62345678")]),
        ("call +49 30 1234 5678", [("phone", "+49 30 1234 5678")]),
        ("身份证11010519491231002X号", [("identity", "11010519491231002X")]),
        ("身份证110105194912310021号", []),
        ("card 4111 1111 1111 1111.", [("card", "4111 1111 1111 1111")]),
        ("card 4111 1111 1111 1112.", []),
        ("host 10.1.2.3.", [("ip", "10.1.2.3")]),
        ("host 192.168.0.1, version 1.2.3.4.5 and 300.1.1.1", [("ip", "192.168.0.1")]),
        ("Copyright (c) 2020 Someone\nnext", [("copyright", "Copyright (c) 2020 Someone")]),
        ("本书版权所有，翻印必究", [("copyright", "版权所有，翻印必究")]),
        ("This is in the public domain.", [("licence", "in the public domain.")]),
        ("copyright law and a licence to kill", []),
    ],
)
def test_hints(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


def test_places_are_code_points() -> None:
    text = "😀𠀀 a@example.org"
    (finding,) = findings_in(text)
    assert (finding.start, text[finding.start :]) == (3, "a@example.org")


def test_personal_data_is_counted_by_kind() -> None:
    assert personal_data_in("a@example.org b@example.org 13812345678") == {Kind.EMAIL: 2, Kind.PHONE: 1}


@pytest.mark.parametrize("text", ["a" * 1_200_000, "1 " * 600_000, "a.b@" * 300_000, "4" * 1_000_000, "(c) " * 300_000])
def test_hostile_texts_take_no_time(text: str) -> None:
    begun = time.perf_counter()
    findings_in(text)
    assert time.perf_counter() - begun < 5
