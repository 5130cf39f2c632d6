"""Every wording of a finding is translated, with the same figures in it."""

import re
from pathlib import Path

from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

PACKAGE = Path(__file__).parents[2] / "benchmark"
CATALOGUE = PACKAGE / "locale/zh_Hans/LC_MESSAGES/django.po"
PLACE = re.compile(r"%(?:\(\w+\)s|%)")


def wordings() -> set[str]:
    found = extract_from_dir(str(PACKAGE), method_map=[("**.py", "python")], keywords={"gettext_noop": None})
    return {str(message) for _, _, message, _, _ in found}


def test_every_finding_is_worded_in_chinese() -> None:
    with CATALOGUE.open("rb") as file:
        chinese = {str(message.id): str(message.string) for message in read_po(file) if message.id}
    assert set(chinese) == wordings()
    for english, text in chinese.items():
        assert re.search("[\u4e00-\u9fff]", text), english
        assert sorted(PLACE.findall(text)) == sorted(PLACE.findall(english)), english


def test_a_wording_has_no_other_per_cent_sign() -> None:
    for english in wordings():
        assert "%" not in PLACE.sub("", english), english
