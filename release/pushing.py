"""A frozen release sent to a dataset repository of the Hugging Face Hub: one commit, and the version as its tag.

The token comes from the environment with each push. It is not stored, and no message holds it.
"""

import re
from contextlib import ExitStack
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext as _

from core.refusals import Invalid, RuleBroken
from release import building, formats
from release.models import Release
from release.workflow import ReleaseState

if TYPE_CHECKING:
    pass

REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")


def push(release: Release, repository: str) -> str:
    """Send all files; returns the commit's address. The repository is made, private, when it is absent.

    Invalid (the repository's name), RuleBroken `no_token`, `not_frozen`, or `not_pushed` with what the hub said.
    """
    if not REPOSITORY.fullmatch(repository) or ".." in repository or "--" in repository:
        raise Invalid({"repository": _("A repository is named OWNER/NAME, in letters, digits, dots and hyphens.")})
    if not settings.LBP_HUB_TOKEN:
        words = _("No token: set HF_TOKEN, in the environment only, to one that may write to the repository.")
        raise RuleBroken(words, rule="no_token")
    if release.state != ReleaseState.FROZEN:
        raise RuleBroken(_("Only a frozen release that is not withdrawn is pushed."), rule="not_frozen")
    building.ensure_files(release)
    try:
        return _commit(release, repository)
    except Exception as error:
        words = _("The hub did not take release %(version)s: %(error)s")
        said = _without_token(" ".join(str(error).split()))[:500]
        raise RuleBroken(words % {"version": release.version, "error": said}, rule="not_pushed") from None


def _without_token(words: str) -> str:
    return words.replace(settings.LBP_HUB_TOKEN, "***")


def _commit(release: Release, repository: str) -> str:
    from huggingface_hub import CommitOperationAdd, HfApi  # noqa: PLC0415 -- half a second, for a push only
    from huggingface_hub.utils import disable_progress_bars  # noqa: PLC0415

    disable_progress_bars()
    hub: HfApi = HfApi(endpoint=settings.LBP_HUB_ENDPOINT, token=settings.LBP_HUB_TOKEN)
    hub.create_repo(repository, repo_type="dataset", private=True, exist_ok=True)
    folder = building.stored_folder(release)
    with ExitStack() as stack:
        # Open files go by plain HTTP; paths would go by a protocol of the hub's own to other hosts.
        files = {name: stack.enter_context((folder / name).open("rb")) for name in formats.FILES}
        commit = hub.create_commit(
            repository,
            [CommitOperationAdd(name, file) for name, file in files.items()],
            commit_message=f"Release {release.version}",
            repo_type="dataset",
        )
    hub.create_tag(repository, tag=release.version, revision=commit.oid, repo_type="dataset", exist_ok=True)
    return str(commit.commit_url)
