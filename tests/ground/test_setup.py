"""The preparation of a fresh machine, with the installers replaced by a list of what was asked of them."""

from pathlib import Path

import pytest

from config import setup


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two locks and no environment."""
    locks = tmp_path / "requirements"
    locks.mkdir()
    for name in ("base.txt", "dev.txt", "uv.txt"):
        (locks / name).write_text(f"{name} as it is today")
    monkeypatch.setattr(setup, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(setup, "PYTHON", tmp_path / ".venv" / "bin" / "python")
    monkeypatch.setattr(setup, "LOCKS", locks)
    monkeypatch.setattr(setup.shutil, "which", lambda name: None)
    monkeypatch.setattr(setup, "index_of_pip", dict)
    monkeypatch.setattr(setup.sys, "argv", ["setup.py"])
    return tmp_path


@pytest.fixture
def asked(place: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Every command, in order. uv cannot be had; all else succeeds."""
    commands: list[list[str]] = []

    def done(command: list[str], *, quiet: bool = False, more: dict[str, str] | None = None) -> bool:
        commands.append(command)
        if "venv" in command:
            setup.PYTHON.parent.mkdir(parents=True)
            setup.PYTHON.touch()
        return True

    monkeypatch.setattr(setup, "done", done)
    return commands


def test_the_first_start_makes_the_environment_and_installs_by_hash(asked: list[list[str]]) -> None:
    assert setup.main() == 0
    assert "venv" in asked[0]
    assert asked[-1][-3:] == ["--require-hashes", "-r", str(setup.LOCKS / "base.txt")]
    assert "pip" in asked[-1]


def test_the_second_start_does_nothing(asked: list[list[str]]) -> None:
    setup.main()
    asked.clear()
    assert setup.main() == 0
    assert asked == []


def test_a_changed_lock_is_installed_into_the_same_environment(asked: list[list[str]]) -> None:
    setup.main()
    asked.clear()
    (setup.LOCKS / "base.txt").write_text("another day")
    assert setup.main() == 0
    assert asked
    assert not any("venv" in command for command in asked)


def test_tests_ask_for_more_and_leave_the_run_nothing_to_do(
    asked: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup.sys, "argv", ["setup.py", "--dev"])
    setup.main()
    assert asked[-1][-1] == str(setup.LOCKS / "dev.txt")
    asked.clear()
    monkeypatch.setattr(setup.sys, "argv", ["setup.py"])
    setup.main()
    assert asked == []


def test_uv_is_used_where_it_is_and_pip_where_uv_fails(
    place: Path, asked: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup.shutil, "which", lambda name: "/usr/bin/uv" if name == "uv" else None)
    succeed = setup.done

    def done(command: list[str], **more: object) -> bool:
        succeed(command)
        return command[0] != "/usr/bin/uv"

    monkeypatch.setattr(setup, "done", done)
    assert setup.main() == 0
    assert asked[-2][:3] == ["/usr/bin/uv", "pip", "install"]
    assert asked[-1][1:3] == ["-m", "pip"]


def test_a_linked_environment_is_a_developers_own(place: Path, asked: list[list[str]]) -> None:
    own = place / "own" / "bin"
    own.mkdir(parents=True)
    (own / "python").touch()
    setup.VENV.symlink_to(own.parent)
    assert setup.main() == 0
    assert asked == []


def test_what_cannot_be_installed_is_told_in_words_and_not_stamped(
    asked: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(setup, "install", lambda lock: False)
    assert setup.main() == 1
    assert "could not be installed" in capsys.readouterr().err
    assert not setup.is_stamped(setup.LOCKS / "base.txt")


def test_an_old_python_names_what_is_needed(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(setup.sys, "version_info", (3, 9, 2))
    assert setup.main() == 1
    assert "Python 3.11 or newer is needed, this is 3.9" in capsys.readouterr().err
