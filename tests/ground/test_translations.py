"""`manage.py translations`: on a small tree of its own."""

from gettext import GNUTranslations
from pathlib import Path

import pytest

from config.translations import catalogues, checking, extracting
from config.translations.checking import placeholders

HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write(tmp_path / "review" / "forms.py", 'from x import gettext as _\nTEXT = _("Two people differ.")\n')
    write(tmp_path / "templates" / "review" / "case.html", '<p>\n  {% translate "Reason" %}\n</p>\n')
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_po(tree: Path, app: str, entries: str) -> Path:
    path = tree / app / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
    write(path, HEADER + entries)
    return path


def entry(words: str, chinese: str, *, above: str = "") -> str:
    return f'{above}msgid "{words}"\nmsgstr "{chinese}"\n\n'


BOTH = entry("Two people differ.", "两人意见不同。") + entry("Reason", "理由")


def found_in(code: str, tmp_path: Path) -> list[tuple[str | None, str, str | None]]:
    write(tmp_path / "core" / "words.py", code)
    return [(source.context, source.words, source.plural) for source in extracting.sources(tmp_path)]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('_("one")', (None, "one", None)),
        ('gettext_lazy("joined " "words")', (None, "joined words", None)),
        ('N_("of the benchmark")', (None, "of the benchmark", None)),
        ('ngettext("%(n)s page", "%(n)s pages", n)', (None, "%(n)s page", "%(n)s pages")),
        ('pgettext("of a door", "open")', ("of a door", "open", None)),
    ],
)
def test_every_way_to_mark_a_string_in_python_is_found(
    code: str, expected: tuple[str | None, str, str | None], tmp_path: Path
) -> None:
    assert found_in(code, tmp_path) == [expected]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ('{% translate "Reason" %}', "Reason"),
        ("{% blocktranslate trimmed %}\n   Dear\n   {{ name }}\n{% endblocktranslate %}", "Dear %(name)s"),
        ('{% include "x.html" with title=_("Nothing yet") %}', "Nothing yet"),
        ('   <b>\n{% if "x" %}\n{{ _("Bold") }}\n  {% endif %}', "Bold"),
    ],
)
def test_every_way_to_mark_a_string_in_a_template_is_found(template: str, expected: str, tmp_path: Path) -> None:
    write(tmp_path / "templates" / "account" / "login.html", template)
    assert [(source.owner, source.words) for source in extracting.sources(tmp_path)] == [("core", expected)]


def test_a_tree_with_every_string_translated_has_no_fault(tree: Path) -> None:
    write_po(tree, "review", BOTH)
    assert checking.check(tree) == checking.Report([], [])


def test_a_string_without_translation_is_told_with_its_place(tree: Path) -> None:
    write_po(tree, "review", entry("Reason", "理由") + entry("Two people differ.", ""))
    faults = checking.check(tree).faults
    assert [(fault.place, fault.words) for fault in faults] == [("review/forms.py:2", "Two people differ.")]


def test_a_fuzzy_translation_is_none(tree: Path) -> None:
    write_po(tree, "review", entry("Two people differ.", "两人意见不同。") + entry("Reason", "理", above="#, fuzzy\n"))
    assert [fault.words for fault in checking.check(tree).faults] == ["Reason"]


def test_a_lost_or_invented_placeholder_is_a_fault(tree: Path) -> None:
    write_po(tree, "review", BOTH + entry("%(count)s left", "还剩 %(number)s"))
    texts = [fault.text for fault in checking.check(tree).faults]
    assert texts == ["the translation lacks %(count)", "the translation has unknown %(number)"]


def test_the_singular_may_leave_its_number_out(tree: Path) -> None:
    write_po(tree, "review", BOTH + 'msgid "one page"\nmsgid_plural "%(n)s pages"\nmsgstr[0] "%(n)s 页"\n')
    assert checking.check(tree).faults == []


def test_what_is_shown_nowhere_is_noted_and_fails_nothing(tree: Path) -> None:
    write_po(tree, "review", BOTH + entry("Gone", "不再"))
    report = checking.check(tree)
    assert report.faults == []
    assert [(note.words, note.text) for note in report.notes] == [("Gone", "not shown any more")]


def test_update_adds_what_is_missing_to_the_app_that_shows_it(tree: Path) -> None:
    write_po(tree, "review", entry("Reason", "理由"))
    write(tree / "templates" / "errors" / "404.html", '{% translate "Nothing here" %}')
    assert checking.update(tree) == {"review": 1, "core": 1}
    assert set(catalogues.book_of(tree, "review").entries()) == {(None, "Reason"), (None, "Two people differ.")}
    assert set(catalogues.book_of(tree, "core").entries()) == {(None, "Nothing here")}
    assert checking.update(tree) == {}
    assert {fault.words for fault in checking.check(tree).faults} == {"Nothing here", "Two people differ."}


def test_a_compiled_catalogue_is_what_gettext_reads_and_is_made_once(tree: Path) -> None:
    path = write_po(tree, "review", BOTH)
    assert catalogues.compile_all(tree) == 1
    with path.with_suffix(".mo").open("rb") as file:
        assert GNUTranslations(file).gettext("Reason") == "理由"
    assert catalogues.compile_all(tree) == 0


def test_placeholders_of_every_kind_are_told_apart() -> None:
    assert placeholders("%(name)s has {count} of 100%% in %s and %d") == {"%(name)", "{count}", "%s no. 1", "%s no. 2"}
    assert placeholders("100% sure") == set()
