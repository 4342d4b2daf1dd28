"""A language client on standard input and output whose calls wait, and a spec to ask about."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Coroutine
from pathlib import Path
from queue import Queue
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

TIMEOUT = 30
T = TypeVar("T")
SPEC = """\
gnarl 1
problem demo
  "A small one, 🦉 and all."

param eps = 0.1   "how close"
graph undirected

features
  w     input   node     scalar   ~ uniform(0, 1)  "node weight"
  pred  state   node(x)  pointer  = x
  mark  state   node     mask     = false
  best  oracle  node     mask     = min_vertex_cover(w)

let open(x) = exists y in neighbors(x): mark[y] and w[y] > eps

phase from(u)
  allow not open(u)
phase to(v)
  allow edge(u, v)
  update
    let heavy = w[v] > eps
    for z in neighbors(v) where heavy
      pred[z] := v
    mark[v] := true

horizon n rounds
terminate when forall x in nodes: mark[x]
objective size = -sum(x in nodes where mark[x]: w[x])
correct forall x in nodes: mark[x] == best[x]

expert first
  from: uniform u where u == last(from)
  to:   uniform v where best[v]

instances er
  train 10  er(n = 8, p = 0.5)
  valid 10  er(n = 8, p = 0.5)
  test  10  er(n = 8, p = 0.5)
"""


def at(text: str, what: str, nth: int = 0) -> tuple[int, int]:
    """Line and UTF-16 character of the nth time that something stands in a text."""
    offset = -1
    for _ in range(nth + 1):
        offset = text.index(what, offset + 1)
    before = text[:offset].rsplit("\n", 1)[-1]
    return text.count("\n", 0, offset), len(before.encode("utf-16-le")) // 2


class Client:
    """Starts a server process and talks to it from an event loop in a thread."""

    def __init__(self, encodings: list[types.PositionEncodingKind] | None = None) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.published: Queue[types.PublishDiagnosticsParams] = Queue()
        self.messages: Queue[types.ShowMessageParams] = Queue()
        self.versions: dict[str, int] = {}
        self.capabilities = self.wait(self._start(encodings)).capabilities

    async def _start(
        self, encodings: list[types.PositionEncodingKind] | None
    ) -> types.InitializeResult:
        self.client = LanguageClient("test", "1")
        self._listen()
        await self.client.start_io(sys.executable, "-m", "gnarl_runtime.commands.lsp", "--stdio")
        general = types.GeneralClientCapabilities(position_encodings=encodings)
        asked = types.InitializeParams(capabilities=types.ClientCapabilities(general=general))
        answer = await self.client.initialize_async(asked)
        self.client.initialized(types.InitializedParams())
        return answer

    def _listen(self) -> None:
        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def found(params: types.PublishDiagnosticsParams) -> None:
            self.published.put(params)

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def said(params: types.ShowMessageParams) -> None:
            self.messages.put(params)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(TIMEOUT)

    def tell(self, method: Any, params: object) -> None:
        async def send() -> None:
            method(params)

        self.wait(send())

    # Files

    def open(self, path: Path, text: str) -> str:
        """Open a file with this text, whatever lies on disk; its address."""
        uri = path.as_uri()
        self.versions[uri] = 1
        item = types.TextDocumentItem(uri, "gnarl", 1, text)
        self.tell(self.client.text_document_did_open, types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, text: str) -> int:
        """Replace the text of an open file; its new version."""
        self.versions[uri] += 1
        change = types.TextDocumentContentChangeWholeDocument(text)
        named = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        params = types.DidChangeTextDocumentParams(named, [change])
        self.tell(self.client.text_document_did_change, params)
        return self.versions[uri]

    def save(self, uri: str) -> None:
        params = types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri))
        self.tell(self.client.text_document_did_save, params)

    def diagnostics(self, uri: str, version: int | None = None) -> list[types.Diagnostic]:
        """The next findings about a file, or those about a version of it."""
        while True:
            found = self.published.get(timeout=TIMEOUT)
            if found.uri == uri and version in (None, found.version):
                return list(found.diagnostics)

    # Questions

    def hover(self, uri: str, line: int, character: int) -> str:
        named, place = types.TextDocumentIdentifier(uri), types.Position(line, character)
        found = self.wait(self.client.text_document_hover_async(types.HoverParams(named, place)))
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    def definition(self, uri: str, line: int, character: int) -> types.Location | None:
        named, place = types.TextDocumentIdentifier(uri), types.Position(line, character)
        asked = types.DefinitionParams(named, place)
        found = self.wait(self.client.text_document_definition_async(asked))
        assert found is None or isinstance(found, types.Location)
        return found

    def completion(self, uri: str, line: int, character: int) -> list[str]:
        named, place = types.TextDocumentIdentifier(uri), types.Position(line, character)
        asked = types.CompletionParams(named, place)
        found = self.wait(self.client.text_document_completion_async(asked))
        assert isinstance(found, types.CompletionList)
        return [item.label for item in found.items]

    def formatting(self, uri: str) -> list[types.TextEdit] | None:
        options = types.FormattingOptions(tab_size=2, insert_spaces=True)
        asked = types.DocumentFormattingParams(types.TextDocumentIdentifier(uri), options)
        found = self.wait(self.client.text_document_formatting_async(asked))
        return None if found is None else list(found)

    def actions(self, uri: str, line: int, character: int) -> list[types.CodeAction]:
        place = types.Position(line, character)
        asked = types.CodeActionParams(
            types.TextDocumentIdentifier(uri),
            types.Range(place, place),
            types.CodeActionContext([]),
        )
        found = self.wait(self.client.text_document_code_action_async(asked))
        return [action for action in found or () if isinstance(action, types.CodeAction)]

    def references(self, uri: str, line: int, character: int) -> list[types.Location]:
        asked = types.ReferenceParams(
            context=types.ReferenceContext(include_declaration=True),
            text_document=types.TextDocumentIdentifier(uri),
            position=types.Position(line, character),
        )
        return list(self.wait(self.client.text_document_references_async(asked)) or ())

    def rename(self, uri: str, line: int, character: int, name: str) -> types.WorkspaceEdit | None:
        place = types.Position(line, character)
        asked = types.RenameParams(types.TextDocumentIdentifier(uri), place, name)
        return self.wait(self.client.text_document_rename_async(asked))

    def semantic_tokens(self, uri: str) -> list[int]:
        asked = types.SemanticTokensParams(types.TextDocumentIdentifier(uri))
        found = self.wait(self.client.text_document_semantic_tokens_full_async(asked))
        return list(found.data) if found else []

    def inlay_hints(self, uri: str) -> list[types.InlayHint]:
        whole = types.Range(types.Position(0, 0), types.Position(9999, 0))
        asked = types.InlayHintParams(types.TextDocumentIdentifier(uri), whole)
        return list(self.wait(self.client.text_document_inlay_hint_async(asked)) or ())

    def folds(self, uri: str) -> list[types.FoldingRange]:
        asked = types.FoldingRangeParams(types.TextDocumentIdentifier(uri))
        return list(self.wait(self.client.text_document_folding_range_async(asked)) or ())

    def symbols(self, uri: str) -> list[types.DocumentSymbol]:
        asked = types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
        found = self.wait(self.client.text_document_document_symbol_async(asked))
        return [symbol for symbol in found or () if isinstance(symbol, types.DocumentSymbol)]

    def close(self) -> int | None:
        """End the session as an editor does; the server's exit code."""
        process = self.client._server
        assert process is not None
        self.wait(self.client.shutdown_async(None))
        self.tell(self.client.exit, None)
        code = self.wait(process.wait())
        self.wait(self.client.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(TIMEOUT)
        return code
