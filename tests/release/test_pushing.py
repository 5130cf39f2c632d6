"""A release goes to a dataset repository: against a stand-in for the hub's HTTP API."""

import base64
import hashlib
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from pytest_django import Settings

from core.models import Event
from core.refusals import NotAllowed, RuleBroken
from release import actions, building, formats
from tests.factories import make_annotator, make_lead
from tests.release.parts import make_ready_sample, released
from tests.release.test_commands import run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("small_lengths")]
TOKEN = "hf_not_a_real_one"
OID = "a" * 40


class Hub(BaseHTTPRequestHandler):
    """Takes a dataset as the hub does: small files in the commit, large ones by LFS before it."""

    server: "Server"

    def log_message(self, *words: Any) -> None:
        pass

    def _body(self) -> bytes:
        if length := self.headers.get("Content-Length"):
            return self.rfile.read(int(length))
        read = b""
        while size := int(self.rfile.readline(), 16):
            read += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return read

    def _answer(self, value: Any, status: int = 200) -> None:
        raw = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def do_PUT(self) -> None:
        self.server.stored[self.path.rsplit("/", 1)[1]] = self._body()
        self._answer({})

    def do_POST(self) -> None:
        body, path = self._body(), self.path.partition("?")[0]
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._answer({"error": f"bad token {self.headers.get('Authorization')}"}, 401)
        elif path == "/api/repos/create":
            self.server.made = json.loads(body)
            self._answer({"url": f"{self.server.address}/datasets/owner/name"})
        elif path.endswith("/preupload/main"):
            files = json.loads(body)["files"]
            modes = [{"path": file["path"], "uploadMode": self._mode(file), "shouldIgnore": False} for file in files]
            self._answer({"files": modes})
        elif path.endswith("/info/lfs/objects/batch"):
            self._answer({"transfer": "basic", "objects": [self._object(one) for one in json.loads(body)["objects"]]})
        elif path.endswith("/commit/main"):
            self._commit([json.loads(line) for line in body.splitlines()])
        elif "/tag/" in path:
            self.server.tags.append(json.loads(body)["tag"])
            self._answer({})
        else:
            self._answer({"valid": True})

    def _mode(self, file: dict[str, Any]) -> str:
        return "lfs" if file["path"].endswith((".parquet", ".json", ".jsonl")) else "regular"

    def _object(self, one: dict[str, Any]) -> dict[str, Any]:
        upload = {"href": f"{self.server.address}/store/{one['oid']}"}
        return {**one, "actions": {"upload": upload, "verify": {"href": f"{self.server.address}/verify"}}}

    def _commit(self, lines: list[dict[str, Any]]) -> None:
        self.server.summary = lines[0]["value"]["summary"]
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                self.server.files[value["path"]] = base64.b64decode(value["content"])
            else:
                self.server.files[value["path"]] = self.server.stored[value["oid"]]
        url = f"{self.server.address}/datasets/owner/name/commit/{OID}"
        self._answer({"success": True, "commitOid": OID, "commitUrl": url})


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Hub)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.stored: dict[str, bytes] = {}
        self.files: dict[str, bytes] = {}
        self.tags: list[str] = []
        self.made: dict[str, Any] = {}
        self.summary = ""


@pytest.fixture
def hub(settings: Settings) -> Iterator[Server]:
    with Server() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        settings.LBP_HUB_ENDPOINT, settings.LBP_HUB_TOKEN = server.address, TOKEN
        yield server
        server.shutdown()


def test_all_files_arrive_in_one_commit_with_the_version_as_tag(hub: Server) -> None:
    make_ready_sample()
    release = released()
    status, out, _err = run("push_release", "1.0", "owner/name")
    assert (status, f"/datasets/owner/name/commit/{OID}" in out) == (0, True)
    assert set(hub.files) == set(formats.FILES)
    for row in release.manifest["files"]:
        assert hashlib.sha256(hub.files[row["name"]]).hexdigest() == row["sha256"]
    assert (hub.made["visibility"], hub.made["type"]) == ("private", "dataset")
    assert (hub.summary, hub.tags) == ("Release 1.0", ["1.0"])
    line = Event.objects.get(action="release.push_release")
    assert line.data["repository"] == "owner/name"
    assert TOKEN not in json.dumps(line.data) + out


def test_a_refusal_of_the_hub_is_told_without_the_token(hub: Server, settings: Settings) -> None:
    make_ready_sample()
    released()
    settings.LBP_HUB_TOKEN = "hf_expired"
    status, _out, err = run("push_release", "1.0", "owner/name")
    assert (status, "did not take release 1.0" in err, "401" in err) == (1, True, True)
    assert "hf_expired" not in err
    assert not Event.objects.filter(action="release.push_release").exists()


def test_what_cannot_be_pushed_is_refused_before_anything_is_sent(hub: Server, settings: Settings) -> None:
    make_ready_sample()
    release = released()
    for bad in ("name", "a/b/c", "../x", "owner/na me", "owner/..", ""):
        assert run("push_release", "1.0", bad)[0] == 1
    assert run("push_release", "9.9", "owner/name")[0] == 1
    with pytest.raises(NotAllowed):
        actions.push_release(release=release, repository="owner/name", by=make_annotator())
    settings.LBP_HUB_TOKEN = ""
    assert "HF_TOKEN" in run("push_release", "1.0", "owner/name")[2]
    settings.LBP_HUB_TOKEN = TOKEN
    actions.withdraw_release(release=building.Release.objects.get(pk=release.pk), reason="wrong", by=make_lead())
    with pytest.raises(RuleBroken, match="not withdrawn"):
        actions.push_release(release=building.Release.objects.get(pk=release.pk), repository="owner/name", by=None)
    assert not hub.files
