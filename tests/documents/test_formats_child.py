"""The process that parses: it is held by the kernel, ended in time, and its death is a refusal."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.refusals import RuleBroken
from documents.formats import asking, child
from documents.formats.answers import REMARKS
from documents.formats.asking import ROOT, Limits, read_apart
from documents.formats.wording import WORDS, refusal
from documents.intake import Remark
from documents.wording import remark_in_words

CONFINED = """
import sys; sys.path.append({root!r})
import socket, os, subprocess
from documents.formats.confining import confine
confine(memory={memory}, seconds={seconds}, written={written})
{code}
"""


def confined(code: str, *, memory: int = 1 << 29, seconds: int = 5, written: int = 1000) -> tuple[int, str]:
    """Run `code` as a parser would run: its return code, and the last line of what it said."""
    source = CONFINED.format(root=str(ROOT), code=code, memory=memory, seconds=seconds, written=written)
    done = subprocess.run([sys.executable, "-I", "-c", source], capture_output=True, text=True, timeout=30, check=False)
    return done.returncode, (done.stderr.strip() or done.stdout.strip() or " ").splitlines()[-1]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("socket.socket()", "Too many open files"),
        ("socket.create_connection(('127.0.0.1', 9))", "Too many open files"),
        ("os.open('/etc/passwd', os.O_RDONLY)", "Too many open files"),
        ("os.open('/tmp/written', os.O_CREAT | os.O_WRONLY)", "Too many open files"),
        ("os.pipe()", "Too many open files"),
        ("bytearray(1 << 30)", "MemoryError"),
        ("sys.stdout.write('still writes')", "still writes"),
    ],
)
def test_a_parser_opens_nothing_and_takes_little(code: str, said: str) -> None:
    """B-36, B-42, B-49: no file is read and no address asked, whatever a document wants."""
    assert said in confined(code)[1]


def test_a_parser_that_works_on_is_ended() -> None:
    start = time.monotonic()
    assert confined("while True: pass", seconds=1)[0] < 0
    assert time.monotonic() - start < 30


def test_the_parent_loads_no_parser() -> None:
    code = (
        "import django, os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings.test'; django.setup(); "
        "import documents.actions, documents.api; print([n for n in ('pypdf', 'lxml', 'docx') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_the_child_loads_no_django_and_no_numpy() -> None:
    """numpy alone can take the memory that a parser may have, and opens files once it may open none."""
    code = (
        f"import sys, importlib; sys.path.append({str(ROOT)!r})\n"
        f"for name in {sorted(child.READERS.values())}: importlib.import_module(name)\n"
        "print([name for name in sys.modules if name.startswith(('django', 'core', 'config', 'numpy'))])"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def fake_child(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(asking, "START", f"import os, signal, sys, time\n{code}")


def rule_after(monkeypatch: pytest.MonkeyPatch, code: str, limits: Limits | None = None) -> str:
    fake_child(monkeypatch, code)
    with pytest.raises(RuleBroken) as caught:
        read_apart("pdf", b"data", limits=limits)
    assert str(caught.value)
    return caught.value.rule


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "damaged"),
        ("os.abort()", "damaged"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "limit_memory"),
        ("os.kill(os.getpid(), signal.SIGXCPU)", "limit_time"),
        ("sys.exit(3)", "damaged"),
        ("print('no answer')", "damaged"),
        ("print('{\"ok\": true}')\nsys.stdout.flush()\nsys.stdout.buffer.write(b'\\xff')", "damaged"),
        ('print(\'{"ok": false, "rule": "made up"}\')', "damaged"),
        ("print('[1]')", "damaged"),
        ("time.sleep(60)", "limit_time"),
        ("os.close(1)\ntime.sleep(60)", "limit_time"),
        ("import subprocess\nsubprocess.Popen(['sleep', '60'])\ntime.sleep(60)", "limit_time"),
    ],
)
def test_however_the_child_ends_the_file_is_refused_with_words(
    monkeypatch: pytest.MonkeyPatch, code: str, rule: str
) -> None:
    start = time.monotonic()
    assert rule_after(monkeypatch, code, Limits(seconds=1)) == rule
    assert time.monotonic() - start < 30


def test_an_answer_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "MAX_ANSWER", 1_000_000)
    assert rule_after(monkeypatch, "while True: sys.stdout.write('x' * 65536)") == "damaged"


def test_the_whole_group_is_gone_when_the_answer_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = (
        f"import subprocess\nopen({str(note)!r}, 'w').write(str(subprocess.Popen(['sleep', '60']).pid))\ntime.sleep(60)"
    )
    assert rule_after(monkeypatch, code, Limits(seconds=1)) == "limit_time"
    grandchild = Path(f"/proc/{note.read_text()}/stat")
    until = time.monotonic() + 5
    while grandchild.exists() and grandchild.read_text().split(")")[1].split()[0] != "Z" and time.monotonic() < until:
        time.sleep(0.05)
    assert not grandchild.exists() or ") Z" in grandchild.read_text()


def test_what_a_child_remarks_is_only_names_and_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    head = {
        "ok": True,
        "title": "a\nb" + "c" * 9000,
        "forms": "<b>",
        "remarks": [{"rule": "<b>", "count": 1}, {"rule": "restricted", "count": "many", "html": "<b>", "page": 3}],
    }
    fake_child(monkeypatch, f"print({json.dumps(json.dumps(head))})\nsys.stdout.write('text')")
    answer = read_apart("pdf", b"")
    assert (answer.text, answer.title[:4], len(answer.title)) == ("text", "a bc", 2000)
    assert answer.remarks == [{"rule": "restricted", "count": 0, "page": 3}]
    assert answer.forms == 0


def test_a_library_that_is_missing_is_said_and_not_laid_on_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "sys.path.append(sys.argv[1])\nsys.modules['pypdf'] = None\n"
        "from documents.formats.child import main\nmain(sys.argv[2:])"
    )
    assert rule_after(monkeypatch, code) == "unavailable"


def test_little_memory_is_a_refusal() -> None:
    page = b"<p>" + b"word " * 3_000_000
    with pytest.raises(RuleBroken) as caught:
        read_apart("html", page, limits=Limits(memory=64 << 20))
    assert caught.value.rule == "limit_memory"
    assert "64 MiB" in str(caught.value)


def test_every_rule_and_every_remark_has_words() -> None:
    for rule in WORDS:
        words = str(refusal("pdf", rule, {"seconds": 1, "mib": 2, "page": 3, "pages": 4} if "page" in rule else {}))
        assert words.endswith(".")
        assert "%(" not in words
    for rule in REMARKS:
        words = remark_in_words(Remark(rule, 2, more={"page": 7}).as_json())
        assert words != rule
        assert "%(" not in words
