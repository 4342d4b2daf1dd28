"""A request in; out: the same for the application behind, or a refusal that reached nothing.

Whoever can open a page in a browser of this machine can send requests to this server. So a request
must name the server by an address of this machine (a stranger's name that leads here is refused),
must not come from another page, must begin with the token, and must not be larger than is needed.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MAX_BODY = 16 << 20
_OWN = ("same-origin", "none")  # of Sec-Fetch-Site: this page, or an address typed by a person
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
_RAW = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]


@dataclass(frozen=True)
class Rules:
    """What is asked of a request; without a token any path will do."""

    port: int
    token: str = ""
    max_body: int = MAX_BODY

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(f"{name}:{self.port}" for name in LOOPBACK)


class Guard:
    """Stands in front of an application."""

    def __init__(self, app: App, rules: Rules) -> None:
        self.app = app
        self.rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = _headers(scope["headers"])
        refusal = refused(self.rules, scope.get("method", "GET"), scope["path"], headers)
        if scope["type"] != "http":  # nothing here is a websocket
            await send({"type": "websocket.close", "code": 1008})
        elif refusal is not None:
            await _answer(send, *refusal)
        else:
            await self._pass_on(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _body(receive, self.rules.max_body)
        if body is None:
            await _answer(send, 413, _too_large(self.rules))
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_RAW]
            await send(message)

        inner = {**scope, "path": within(self.rules.token, scope["path"])}
        await self.app(inner, _again(body, receive), sending)


def refused(
    rules: Rules, method: str, path: str, headers: Mapping[str, str]
) -> tuple[int, str] | None:
    """The status and the words for a request that goes no further."""
    if headers.get("host", "") not in rules.hosts:
        return 421, "this server answers to addresses of its own machine only"
    origin = headers.get("origin")
    if origin is not None and origin not in {f"http://{host}" for host in rules.hosts}:
        return 403, "a page from elsewhere may not ask this server"
    if headers.get("sec-fetch-site", "none") not in _OWN:
        return 403, "a page from elsewhere may not ask this server"
    if rules.token and not hmac.compare_digest(_first(path).encode(), rules.token.encode()):
        return 403, "the address lacks the token that the server printed when it started"
    if method not in ("GET", "HEAD", "POST"):
        return 405, f"{method} is not answered here"
    kind = headers.get("content-type", "").partition(";")[0].strip()
    if method == "POST" and kind != "application/json":
        return 415, "expected application/json"
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > rules.max_body:
        return 413, _too_large(rules)
    return None


def within(token: str, path: str) -> str:
    """The path without the token in front."""
    return path[len(token) + 1 :] or "/" if token else path


def _first(path: str) -> str:
    return path.lstrip("/").split("/", 1)[0]


def _too_large(rules: Rules) -> str:
    return f"larger than {rules.max_body >> 20} MB"


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}


async def _body(receive: Receive, most: int) -> bytes | None:
    """All of it before anything is done; None if it is too large, whatever length it claimed."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            return None
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def _again(body: bytes, receive: Receive) -> Receive:
    """The body as one message, then whatever else comes: that the other side is gone."""
    told = False

    async def receiving() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving


async def _answer(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *_RAW]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{text}\n".encode()})
