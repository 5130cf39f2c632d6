"""The parts every page is built of."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django import forms
from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.paginator import Paginator
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import timezone, translation

from benchmark.taxonomy import Language
from core.guidelines import CHECKLIST, ISSUE_KINDS, QUALITY_DIMENSIONS, TASK_A_CHECKS, TASK_B_CHECKS, taxonomy_in
from core.templatetags import ui
from review.workflow import Dimension, IssueKind
from tests.factories import make_lead


def render(source: str, **context: object) -> str:
    return Template("{% load ui %}" + source).render(Context(context))


def test_an_icon_is_silent_beside_a_word_and_named_alone() -> None:
    assert 'aria-hidden="true"' in render('{% icon "check" %}')
    assert 'role="img" aria-label="passed"' in render('{% icon "check" label="passed" %}')


def test_every_icon_that_is_used_exists() -> None:
    root = Path(__file__).resolve().parents[2]
    there = set(re.findall(r'id="([a-z]+)"', (root / "static/icons.svg").read_text()))
    templates = "".join(path.read_text() for path in (root / "templates").rglob("*.html"))
    used = set(re.findall(r'{% icon "([a-z]+)"', templates)) | set(ui.ICON_OF_STATE.values())
    assert used <= there


def test_untrusted_words_stay_words() -> None:
    assert "<b>" not in render('{% pill "pass" text %}', text="<b>")
    assert "<b>" not in render('{% icon "check" label=text %}', text="<b>")


class Example(forms.Form):
    name = forms.CharField(help_text="a hint")
    agree = forms.BooleanField()
    kind = forms.ChoiceField(choices=[("a", "A"), ("b", "B")], widget=forms.RadioSelect)
    secret = forms.CharField(widget=forms.HiddenInput, required=False)


def test_a_field_ties_label_control_and_hint() -> None:
    html = render("{% field form.name %}", form=Example())
    assert '<label for="id_name">Name</label>' in html
    assert 'aria-describedby="id_name_note"' in html
    assert '<p class="field__hint" id="id_name_note">a hint</p>' in html


def test_an_error_takes_the_hints_place_and_the_typed_text_stays() -> None:
    form = Example({"name": "", "kind": "<i>"})
    html = render("{% field form.name %}{% field form.kind %}", form=form)
    assert 'aria-invalid="true"' in html
    assert "a hint" not in html
    assert "field__error" in html
    assert "<i>" not in html


def test_the_first_wrong_field_is_one_click_away() -> None:
    html = render("{% form_errors form %}", form=Example({}))
    assert 'href="#id_name"' in html
    assert "3 fields" in html
    assert render("{% form_errors form %}", form=Example()).strip() == ""


def test_each_form_of_a_page_has_a_value_of_its_own() -> None:
    first, second = render("{% once %}|{% once %}").split("|")
    assert first != second


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=3), "3 min"),
        (timedelta(hours=5), "5 h"),
        (timedelta(days=1), "1 day"),
        (timedelta(days=9), "9 days"),
    ],
)
def test_since_is_short(ago: timedelta, words: str) -> None:
    assert f">{words}</time>" in render("{% since moment %}", moment=timezone.now() - ago)


def test_nobody_is_the_system() -> None:
    assert render("{% person user %}", user=None) == "the system"


@pytest.mark.django_db
def test_a_person_is_shown_by_name() -> None:
    assert "ada" in render("{% person user %}", user=make_lead("ada"))


def test_another_page_of_a_list_keeps_the_filters() -> None:
    request = RequestFactory().get("/x/", {"language": "Chinese", "page": "1"})
    page = Paginator(range(30), 10).page(2)
    html = render('{% include "components/pages.html" %}', request=request, page_obj=page)
    assert 'href="?language=Chinese&amp;page=3"' in html
    assert "11 to 20 of 30" in html


# Guidelines ----------------------------------------------------------------------------------------------
def test_the_criteria_are_as_many_as_the_pipeline_says() -> None:
    counts = [len(criteria) for criteria in (TASK_A_CHECKS, TASK_B_CHECKS, CHECKLIST, QUALITY_DIMENSIONS)]
    assert counts == [4, 4, 7, 5]


def test_dimensions_and_issue_kinds_are_those_of_the_review() -> None:
    assert [dimension.code for dimension in QUALITY_DIMENSIONS if not dimension.computed] == Dimension.values
    assert [kind.code for kind in ISSUE_KINDS] == IssueKind.values


@pytest.mark.parametrize("language", list(Language))
def test_the_guidelines_show_all_25_tasks_in_the_pages_language(language: Language) -> None:
    shown = taxonomy_in(language)
    assert (len(shown), sum(len(primary.tasks) for primary in shown)) == (11, 25)
    assert all(
        task.definition.isascii() == (language is Language.ENGLISH) for primary in shown for task in primary.tasks
    )


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_figures_are_grouped_in_both_languages(language: str) -> None:
    with translation.override(language):
        assert intcomma(1234567) == "1,234,567"
