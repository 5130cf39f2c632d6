"""What a person changes about themselves, and what a lead words in the guidelines."""

from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core import guidelines, history
from core.authentication import issue_token
from core.models import ApiToken, GuidelinesMark, GuidelinesVersion, User
from core.refusals import Conflict, Invalid, NotAllowed
from core.text import clean_text

PREFERENCES = ("language", "theme", "time_zone", "shortcuts")


def change_preferences(*, person: User, **values: str | bool) -> User:
    """Only what is given changes. Not audited: it changes nobody's work."""
    names = [name for name in PREFERENCES if name in values]
    for name in names:
        setattr(person, name, values[name])
    person.save(update_fields=names)
    return person


@transaction.atomic
def issue_api_token(*, by: User, name: str, scope: str, days: int) -> tuple[ApiToken, str]:
    return issue_token(person=by, name=name, scope=scope, days=days, by=by)


def can_revoke_api_token(user: User, token: ApiToken) -> bool:
    return token.person_id == user.pk or user.is_lead


@transaction.atomic
def revoke_api_token(*, token: ApiToken, by: User) -> ApiToken:
    if not can_revoke_api_token(by, token):
        raise NotAllowed(_("This token belongs to somebody else."))
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        history.record("revoke_token", token, by=by)
    return token


# Guidelines -----------------------------------------------------------------------------------------------
LONGEST_WORDING, LONGEST_GUIDANCE, LONGEST_NOTE = 600, 5000, 1000


def can_save_guidelines(user: User) -> bool:
    return user.is_lead


@transaction.atomic
def save_guidelines(*, texts: Mapping[str, Mapping[str, str]], note: str, based_on: int, by: User) -> GuidelinesVersion:
    """A new version of the wording. `texts`: {key: {language: text}} of what changes, an empty text puts back what the
    system began with; `based_on`: number of the version that the person saw, 0 before the first."""
    if not can_save_guidelines(by):
        raise NotAllowed(_("Only a lead changes the guidelines."))
    newest = GuidelinesVersion.objects.order_by("-number").first()
    now_at = newest.number if newest else 0
    if based_on != now_at:
        raise Conflict(
            _("The guidelines were changed meanwhile: they are at version %(version)s. Look at the difference first.")
            % {"version": guidelines.name_of(newest)},
            rule="stale_version",
            version=now_at,
        )
    note = clean_text(note).strip()
    errors = _faults_of(texts)
    if not note or len(note) > LONGEST_NOTE:
        errors["note"] = _("Say what you change and why, in at most %(most)s characters.") % {"most": LONGEST_NOTE}
    if errors:
        raise Invalid(errors)
    before = newest.texts if newest else {}
    after = _with_changes(before, texts)
    if after == before:
        raise Invalid({"texts": _("Nothing was changed.")})
    version = GuidelinesVersion.objects.create(
        number=now_at + 1, base=guidelines.GUIDELINES_VERSION, texts=after, note=note, saved_by=by
    )
    keys = sorted(key for key in after.keys() | before.keys() if after.get(key) != before.get(key))
    history.record("save_guidelines", version, by=by, reason=note, version=version.name, keys=keys)
    return version


def _faults_of(texts: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    errors = {}
    for key, by_language in texts.items():
        most = LONGEST_GUIDANCE if key.endswith(f".{guidelines.GUIDANCE}") else LONGEST_WORDING
        if key not in guidelines.WORDINGS:
            errors[key] = _("There is no such criterion.")
        elif set(by_language) - set(guidelines.LANGUAGES):
            errors[key] = _("Languages are: %(names)s.") % {"names": ", ".join(guidelines.LANGUAGES)}
        elif any(len(text) > most for text in by_language.values()):
            errors[key] = _("At most %(most)s characters.") % {"most": most}
    return errors


def _with_changes(
    before: Mapping[str, Mapping[str, str]], texts: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """What reads as the system began with it is not kept: it follows the code."""
    after = {key: dict(by_language) for key, by_language in before.items()}
    for key, by_language in texts.items():
        for language, text in by_language.items():
            worded = clean_text(text).strip()
            if worded and worded != guidelines.text_in(None, key, language):
                after.setdefault(key, {})[language] = worded
            else:
                after.get(key, {}).pop(language, None)
    return {key: by_language for key, by_language in after.items() if by_language}


def read_guidelines(*, by: User) -> GuidelinesMark:
    """The person has read them as they are now. Not audited: it changes nobody's work."""
    newest = guidelines.newest()
    values = {"number": newest.number if newest else 0, "read_at": timezone.now()}
    return GuidelinesMark.objects.update_or_create(person=by, defaults=values)[0]
