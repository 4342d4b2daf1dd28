"""What is no message, and messages about what is no spec: an answer or an end, never a wait."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lsp_client import SPEC

SERVER = "from gnarl_runtime.commands.lsp import main; raise SystemExit(main())"
PLACE = {"line": 0, "character": 1}


def framed(message: object) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def request(number: int, method: str, params: object) -> bytes:
    told = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return framed({name: value for name, value in told.items() if value is not None})


HELLO = request(1, "initialize", {"processId": None, "rootUri": None, "capabilities": {}})
GOODBYE = request(99, "shutdown", None) + framed({"jsonrpc": "2.0", "method": "exit"})


def start() -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    two_gigabytes = (2 << 30, 2 << 30)
    return subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, two_gigabytes),
    )


def answers(*sent: bytes) -> dict[Any, dict[str, Any]]:
    """What a server says to a whole session, by the numbers of the requests."""
    server = start()
    out, _ = server.communicate(HELLO + b"".join(sent) + GOODBYE, timeout=60)
    assert server.returncode == 0
    found = {}
    while out:
        head, _, rest = out.partition(b"\r\n\r\n")
        length = int(head.split(b"\r\n")[0].split()[1])
        message, out = json.loads(rest[:length]), rest[length:]
        if "method" not in message:
            found[message.get("id")] = message
    assert 99 in found
    return found


def test_wrong_parameters_get_an_error_reply(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gnarl")
    (tmp_path / "large.gnarl").write_bytes(b" " * 600_000)
    (tmp_path / "good.gnarl").write_text(SPEC, "utf-8")
    uris = ["file:///dev/zero", "file:///nope.gnarl", "file:///tmp", "::%%\0", tmp_path.as_uri()]
    uris += [(tmp_path / name).as_uri() for name in ("pipe.gnarl", "large.gnarl")]
    wrong: list[object] = [{}, [], 5, "text", {"textDocument": {"uri": 5}, "position": PLACE}]
    wrong += [{"textDocument": {"uri": "file:///x"}, "position": {"line": "a", "character": -1}}]
    wrong += [{"textDocument": {"uri": uri}, "position": PLACE} for uri in uris]
    good = {"textDocument": {"uri": (tmp_path / "good.gnarl").as_uri()}, "position": PLACE}
    sent = [request(2 + k, "textDocument/hover", params) for k, params in enumerate(wrong)]
    found = answers(*sent, request(50, "textDocument/hover", good), request(51, "no/such", {}))
    for k, params in enumerate(wrong):
        assert found[2 + k]["error"]["code"] == -32602, params
    assert "error" not in found[50]
    assert found[51]["error"]["code"] == -32601


def test_what_is_no_message_ends_nothing(tmp_path: Path) -> None:
    found = answers(framed([1, 2]), framed({"id": 2}), b"Content-Length: 5\r\n\r\n{{{{{")
    assert found[None]["error"]["code"] == -32600


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: abc\r\n\r\n{}",
        b"Content-Length: 99999999999999\r\n\r\n{}",
        b"Content-Length: -5\r\n\r\n{}",
        b"Content-Length: 0\r\n\r\n",
        b"Hello: you\r\n\r\n",
        b"A" * 100_000,
    ],
)
def test_a_broken_header_ends_the_session(header: bytes) -> None:
    """Standard input stays open: a server that waits for more would wait for ever."""
    server = start()
    assert server.stdin is not None
    try:
        server.stdin.write(HELLO + header)
        server.stdin.flush()
    except BrokenPipeError:  # it has ended already
        pass
    assert server.wait(timeout=60) == 1
    assert server.stderr is not None
    assert b"expected Content-Length: NUMBER" in server.stderr.read()
    for stream in (server.stdin, server.stdout, server.stderr):
        if stream is not None:
            stream.close()
