"""What an editor could send in, whether every request was answered out."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import odd

_URI = "file:///tmp/attack/demo.gnarl"
_METHODS = (
    *("textDocument/hover", "textDocument/definition", "textDocument/completion"),
    *("textDocument/documentSymbol", "textDocument/formatting", "textDocument/codeAction"),
    *("textDocument/didChange", "textDocument/didSave", "textDocument/didClose", "no/such"),
    *("workspace/didChangeConfiguration", "workspace/executeCommand", "$/cancelRequest"),
)
INTERNAL_ERROR = -32603


def make_session(rng: random.Random) -> bytes:
    """A text that is opened, and one question about it, each as a line of JSON."""
    from targets import make_spec

    text = make_spec(rng).decode("utf-8", "replace")
    line, character = rng.randrange(60), rng.randrange(40)
    place = {"line": line, "character": character}
    document = {"uri": _URI, "languageId": "gnarl", "version": 1, "text": text}
    method = rng.choice(_METHODS)
    params: dict[str, Any] = {
        "textDocument": {"uri": _URI, "version": 2},
        "position": place,
        "range": {"start": place, "end": place},
        "context": {"diagnostics": []},
        "options": {"tabSize": 4, "insertSpaces": True},
        "contentChanges": [{"text": text}],
        "command": "none",
        "id": 1,
        "settings": {},
    }
    told = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    if rng.random() < 0.7:
        told = odd.changed_json(rng, told)
    opened = {"jsonrpc": "2.0", "method": "textDocument/didOpen"}
    lines = [{**opened, "params": {"textDocument": document}}, told]
    return "\n".join(json.dumps(item) for item in lines).encode("utf-8", "replace")


class _Replies:
    """What a server writes to."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def write(self, content: bytes) -> None:
        self.found.append(json.loads(content.partition(b"\r\n\r\n")[2]))


@cache
def _server() -> tuple[Any, _Replies]:
    from gnarl_dsl.editing.server import make_server

    server, replies = make_server(), _Replies()
    server.protocol.set_writer(replies)  # type: ignore[arg-type]
    hello = {"processId": None, "rootUri": None, "capabilities": {}}
    _hand(server, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    return server, replies


def _hand(server: Any, message: object) -> None:
    text = json.dumps(message)
    protocol = server.protocol
    protocol.handle_message(json.loads(text, object_hook=protocol.structure_message))


def run_session(content: bytes) -> str:
    import logging

    from pygls.exceptions import JsonRpcException

    logging.disable(logging.CRITICAL)
    server, replies = _server()
    replies.found.clear()
    kind = "answered"
    for line in content.decode("utf-8").split("\n"):
        try:
            _hand(server, json.loads(line))
        except JsonRpcException:  # a notification that makes no sense is shown, not answered
            kind = "shown"
    server.workspace.text_documents.clear()
    server.forget_all()
    for reply in replies.found:
        error = reply.get("error") or {}
        assert error.get("code") != INTERNAL_ERROR, error
        kind = "refused" if error else kind
    return kind
