"""What an editor sends in, an answer to everything out, also to what is no message."""

from __future__ import annotations

import re
from typing import Any, BinaryIO

from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest
from pygls.protocol import LanguageServerProtocol

MAX_MESSAGE = 64 << 20  # bytes; specs have at most half a million
_MAX_HEADER = 4096
_HEADER = re.compile(rb"[A-Za-z-]+:[^\r\n]*\r\n")
_LENGTH = re.compile(rb"(?i:content-length):\s*(\d{1,12})\s*\r\n")


class Messages:
    """Standard input as pygls reads it; it ends where a header is broken.

    Where one message ends and the next begins cannot be known any more then, and to wait for a
    line that looks like a header would be to wait for ever.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.broken = ""
        self._has_length = False

    def readline(self) -> bytes:
        line = self.stream.readline(_MAX_HEADER)
        self.broken = self._mistake(line) if line else ""
        return b"" if self.broken else line

    def read(self, count: int) -> bytes:
        return self.stream.read(count)

    def _mistake(self, line: bytes) -> str:
        if line == b"\r\n":
            known, self._has_length = self._has_length, False
            return "" if known else "found no Content-Length"
        length = _LENGTH.fullmatch(line)
        if length and 0 < int(length[1]) <= MAX_MESSAGE:
            self._has_length = True
            return ""
        if _HEADER.fullmatch(line) and not line.lower().startswith(b"content-length"):
            return ""
        return f"found {line[:60]!r}"


class Protocol(LanguageServerProtocol):
    """Replies with an error to requests whose parameters make no sense."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException:
            number = data.get("id")
            if "method" not in data or not isinstance(number, int | str):
                raise
            named = isinstance(data["method"], str)
            wrong = JsonRpcInvalidParams() if named else JsonRpcInvalidRequest()
            self._send_response(number, error=wrong.to_response_error())
            return None

    def handle_message(self, message: Any) -> None:
        if message is None:  # answered already
            return
        named = isinstance(getattr(message, "method", ""), str)
        if not (hasattr(message, "jsonrpc") and named):
            error = JsonRpcInvalidRequest("expected a JSON-RPC 2.0 message")
            number = getattr(message, "id", None)
            self._send_response(number, error=error.to_response_error())  # type: ignore[arg-type]
            return
        super().handle_message(message)
