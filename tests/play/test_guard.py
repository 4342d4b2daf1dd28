"""Who may ask the server, and what it hands out: hosts, origins, tokens, sizes, files."""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from served import TOKEN, Served, own_server, served

from gnarl_dsl.specs import find_spec
from gnarl_runtime.commands.servers.play import main
from gnarl_runtime.web.guard import MAX_BODY


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    (home / "secret.gnarl").write_text("problem secret\n", "utf-8")
    folder = home / "specs"
    (folder / "inner").mkdir(parents=True)
    spec = find_spec("bfs")
    assert spec is not None
    for name in ("bfs.gnarl", "inner/other.gnarl", ".hidden.gnarl"):
        (folder / name).write_bytes(spec.read_bytes())
    (folder / "link.gnarl").symlink_to(home / "secret.gnarl")
    (folder / "out").symlink_to(home)
    (folder / "notes.txt").write_text("not a spec", "utf-8")
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Served]:
    with served(folder) as own:
        yield own


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1"}, 421),  # without the port it is another server
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
    ],
)
def test_only_the_own_page_is_answered(
    server: Served, headers: dict[str, str], status: int
) -> None:
    for what in ("api/hello", "", "main.js"):
        assert httpx.get(server.address + what, headers=headers).status_code == status


def test_nothing_is_told_without_the_token(server: Served) -> None:
    root = server.address.removesuffix(f"{TOKEN}/")
    for path in ("", "api/hello", "main.js", f"{TOKEN[:-1]}/api/hello", f"x/{TOKEN}/api/hello"):
        reply = httpx.get(root + path)
        assert reply.status_code == 403
        assert "token" in reply.text
        assert TOKEN not in reply.text


def test_what_may_be_sent(server: Served) -> None:
    hello = f"{server.address}api/read"
    assert httpx.put(hello, json={}).status_code == 405
    assert httpx.post(hello, data={"path": "bfs.gnarl"}).status_code == 415
    assert httpx.post(hello, json={"path": 3}).status_code == 422
    assert httpx.post(hello, json={"path": "bfs.gnarl", "more": 1}).status_code == 422
    large = {"path": "x" * MAX_BODY}
    assert httpx.post(hello, json=large).status_code == 413

    def endless() -> Iterator[bytes]:
        for _ in range(MAX_BODY // 65_536 + 2):
            yield b" " * 65_536

    headers = {"content-type": "application/json"}
    with contextlib.suppress(httpx.TransportError):  # cut off while it was still sending
        assert httpx.post(hello, content=endless(), headers=headers).status_code == 413


def test_websockets_are_closed(server: Served) -> None:
    port = httpx.URL(server.address).port
    with socket.create_connection(("127.0.0.1", port), 5) as own:
        lines = (
            *(f"GET /{TOKEN}/api/hello HTTP/1.1", f"Host: 127.0.0.1:{port}"),
            *("Origin: http://evil.example", "Upgrade: websocket", "Connection: Upgrade"),
            *("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "", ""),
        )
        own.sendall("\r\n".join(lines).encode())
        assert b" 403 " in own.recv(200)


def test_answers_forbid_what_a_page_from_elsewhere_could_do(server: Served) -> None:
    headers = httpx.get(server.address).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"  # the token stays here
    assert headers["x-content-type-options"] == "nosniff"


def test_it_listens_on_this_machine_only(server: Served) -> None:
    port = httpx.URL(server.address).port
    own = [info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    for address in (address for address in own if not str(address).startswith("127.")):
        with pytest.raises(OSError):  # noqa: PT011
            socket.create_connection((str(address), port), 1)


@pytest.mark.parametrize(
    "path",
    [
        *("../secret.gnarl", "inner/../../secret.gnarl", "/etc/passwd", "/etc/x.gnarl", "..", ""),
        *("link.gnarl", "out/secret.gnarl", ".hidden.gnarl", "inner//other.gnarl", "notes.txt"),
        *("..\\secret.gnarl", "a\0.gnarl", "./bfs.gnarl", "gone.gnarl"),
    ],
)
def test_no_file_beside_the_folder_is_read_or_written(
    server: Served, folder: Path, path: str
) -> None:
    before = (folder.parent / "secret.gnarl").read_text("utf-8")
    assert server.refused("read", path=path)[0] in (400, 403, 404)
    text = "gnarl 1\n"
    for asked in ("check", "hover", "complete"):
        more = {} if asked == "check" else {"offset": 0}
        if path != "gone.gnarl":
            assert server.refused(asked, path=path, text=text, **more)[0] in (400, 403)
    if path != "gone.gnarl":
        assert server.refused("save", path=path, text=text, known=None)[0] in (400, 403)
    assert (folder.parent / "secret.gnarl").read_text("utf-8") == before


def test_a_spec_cannot_show_what_a_link_leads_to(server: Served) -> None:
    text = "gnarl 1\nproblem new extends link\n"
    status, said = server.refused("check", path="new.gnarl", text=text)
    assert status == 403
    assert "outside the folder" in said
    own = server.told("check", path="new.gnarl", text="gnarl 1\nproblem new extends bfs\n")
    assert own["problem"]["name"] == "new"


def test_files_are_listed_read_and_saved_whole(server: Served, folder: Path) -> None:
    assert server.told("read", path="inner/other.gnarl")["text"].startswith("gnarl 1")
    saved = server.told("save", path="mine.gnarl", text="gnarl 1\n", known=None)
    assert "mine.gnarl" in saved["files"]
    assert ".hidden.gnarl" not in saved["files"]
    (folder / "mine.gnarl").write_text("changed elsewhere", "utf-8")
    stale = {"path": "mine.gnarl", "text": "gnarl 1\n\n", "known": saved["digest"]}
    status, said = server.refused("save", **stale)
    assert status == 409
    assert "changed by somebody else" in said
    assert (folder / "mine.gnarl").read_text("utf-8") == "changed elsewhere"
    assert server.refused("save", path="mine.gnarl", text="", known=None)[0] == 409
    now = server.told("read", path="mine.gnarl")["digest"]
    server.told("save", path="mine.gnarl", text="gnarl 1\n\n", known=now)
    assert (folder / "mine.gnarl").read_text("utf-8") == "gnarl 1\n\n"
    assert not list(folder.glob("*.tmp"))


def test_the_command_says_where_the_page_is(folder: Path) -> None:
    with own_server("bfs.gnarl", "--port", "0", cwd=folder) as (process, address):
        hello = httpx.get(f"{address}api/hello").json()
        assert hello["opened"]["path"] == "bfs.gnarl"
        with own_server("--port", str(httpx.URL(address).port), cwd=folder) as (second, line):
            assert line == ""
            assert second.wait(20) == 2
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nothing.gnarl"], "there is no file nothing.gnarl"),
        (["bsf"], "Did you mean bfs?"),
        (["--port", "70000"], "expected a number from 0 to 65535"),
        (["--extern", "none.py"], "there is no such file"),
    ],
)
def test_mistakes_on_the_command_line(
    args: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(args) == 2
    assert said in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    assert main([]) == 2
    assert "pip install 'gnarl-dsl[play]'" in capsys.readouterr().err
