"""Messages of the Language Server Protocol in, answers out: the language server on pygls."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from gnarl_dsl import __version__
from gnarl_dsl.editing import answers
from gnarl_dsl.editing.document import Document, Place, open_document
from gnarl_dsl.editing.positions import Positions
from gnarl_dsl.editing.references import CannotRename, references, rename, target_of
from gnarl_dsl.editing.wire.protocol import Protocol
from gnarl_dsl.format.house_style import format_text
from gnarl_dsl.report.diagnostics import InternalError, SpecError
from gnarl_dsl.report.source import MAX_BYTES, Source, Span

# A pause in typing before the text is checked, in seconds.
PAUSE = 0.15
_LOG = logging.getLogger("gnarl-lsp")


class GnarlServer(LanguageServer):
    """Keeps the last checked version of every open file.

    Files are sent whole: pygls splits lines at more characters than the protocol does, so its
    count of lines, and with it an edit of a part, can be off.
    """

    def __init__(self) -> None:
        whole = types.TextDocumentSyncKind.Full
        super().__init__(
            "gnarl-lsp", __version__, text_document_sync_kind=whole, protocol_cls=Protocol
        )
        self._documents: dict[str, tuple[str, Document]] = {}

    def document(self, uri: str) -> Document:
        """The file as it is now, checked once per version of its text."""
        text = self._text(uri)
        kept = self._documents.get(uri)
        if kept is not None and kept[0] == text:
            return kept[1]
        document = open_document(text, path_of(uri), self._opened(uri))
        self._documents[uri] = text, document
        return document

    def _opened(self, uri: str) -> dict[Path, str]:
        """What the other open files say now, saved or not."""
        others = (key for key in self.workspace.text_documents if key != uri)
        found = ((path_of(key), self.workspace.get_text_document(key).source) for key in others)
        return {path: text for path, text in found if path is not None}

    def _text(self, uri: str) -> str:
        """What the editor has open, or a file of sensible size."""
        if uri in self.workspace.text_documents:
            return self.workspace.get_text_document(uri).source
        try:
            return _read(Path(to_fs_path(uri) or uri))
        except (OSError, ValueError) as error:
            raise JsonRpcInvalidParams(f"{uri} cannot be read: {error}") from None

    def positions(self, source: Source) -> Positions:
        return Positions(source, self.workspace.position_codec.client_num_units)

    def open_documents(self) -> list[tuple[str, Document]]:
        return [(uri, self.document(uri)) for uri in tuple(self.workspace.text_documents)]

    def forget(self, uri: str) -> None:
        self._documents.pop(uri, None)

    def publish_dependents(self, uri: str) -> None:
        """Other open files may extend one that was opened, changed or closed."""
        path = path_of(uri)
        for other in tuple(self.workspace.text_documents):
            if other != uri and path is not None and self.document(other).extends(path):
                self.forget(other)
                self.publish(other)

    def forget_all(self) -> Sequence[str]:
        """Check everything anew when it is next asked for; the open files."""
        self._documents.clear()
        return tuple(self.workspace.text_documents)

    def publish(self, uri: str) -> None:
        """Send all findings about a file to the client."""
        document = self.document(uri)
        version = self.workspace.get_text_document(uri).version
        found = answers.diagnostics(document, lambda span: self.locate(document, uri, span))
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=found, version=version)
        )

    def locate(self, document: Document, uri: str, span: Span) -> types.Location:
        """A span of a spec, in the open file or in one that it extends."""
        source = document.checked.sources[span.file]
        own = span.file == 0
        address = uri if own else from_fs_path(str(Path(source.name).resolve())) or uri
        return types.Location(address, self.positions(source).range(span))


def path_of(uri: str) -> Path | None:
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return Path(path) if path else None


def _read(path: Path) -> str:
    """A file that is not open in the editor, if it can be a spec."""
    if not path.is_file() or path.stat().st_size > MAX_BYTES:
        raise ValueError(f"expected a file of at most {MAX_BYTES:,} bytes")
    return path.read_text("utf-8")


def make_server() -> GnarlServer:
    server = GnarlServer()
    _follow_files(server)
    _answer_about_words(server)
    _answer_about_names(server)
    _answer_about_files(server)
    _answer_about_looks(server)
    return server


def _follow_files(server: GnarlServer) -> None:
    """Diagnostics when a file is opened, after a pause in typing, and when one is saved."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.publish(params.text_document.uri)
        server.publish_dependents(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        uri, version = params.text_document.uri, params.text_document.version
        await asyncio.sleep(PAUSE)
        now = server.workspace.text_documents.get(uri)
        if now is not None and now.version == version:
            server.publish(uri)
            server.publish_dependents(uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        """Other open files may extend the one that was saved."""
        for uri in server.forget_all():
            server.publish(uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.forget(uri)
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
        server.publish_dependents(uri)


def _answer_about_words(server: GnarlServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        document = server.document(params.text_document.uri)
        return answers.hover(document, server.positions(document.source), params.position)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> types.Location | None:
        uri = params.text_document.uri
        document = server.document(uri)
        place = document.place_at(server.positions(document.source).offset(params.position))
        span = document.definition(place) if place else None
        return server.locate(document, uri, span) if span else None

    @server.feature(types.TEXT_DOCUMENT_COMPLETION)
    def completion(params: types.CompletionParams) -> types.CompletionList:
        document = server.document(params.text_document.uri)
        return answers.completion(document, server.positions(document.source), params.position)


def _answer_about_names(server: GnarlServer) -> None:
    """Whatever is found in all open files."""

    def place_of(uri: str, position: types.Position) -> tuple[Document, Place | None]:
        document = server.document(uri)
        return document, document.place_at(server.positions(document.source).offset(position))

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def used(params: types.ReferenceParams) -> list[types.Location]:
        document, place = place_of(params.text_document.uri, params.position)
        target = target_of(document, place) if place else None
        if target is None:
            return []
        return [
            types.Location(uri, server.positions(own.source).range(span))
            for uri, own in server.open_documents()
            for span in references(own, target)
            if params.context.include_declaration or not target.is_at(own, span)
        ]

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def nameable(params: types.PrepareRenameParams) -> types.Range | None:
        document, place = place_of(params.text_document.uri, params.position)
        if place is None or target_of(document, place) is None:
            return None
        return server.positions(document.source).range(place.word.span)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def renamed(params: types.RenameParams) -> types.WorkspaceEdit | None:
        document, place = place_of(params.text_document.uri, params.position)
        if place is None:
            return None
        own = params.text_document.uri
        others = {uri: other for uri, other in server.open_documents() if uri != own}
        try:
            found = rename(document, place, params.new_name, others.values())
        except CannotRename as error:
            raise JsonRpcInvalidParams(str(error)) from error
        files = {own: document, **others}
        return answers.workspace_edit(
            {
                uri: (server.positions(file.source), found[file.source.name])
                for uri, file in files.items()
                if file.source.name in found
            }
        )


def _answer_about_looks(server: GnarlServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, answers.LEGEND)
    def tokens(params: types.SemanticTokensParams) -> types.SemanticTokens:
        document = server.document(params.text_document.uri)
        return answers.semantic_tokens(document, server.positions(document.source))

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        document = server.document(params.text_document.uri)
        return answers.inlay_hints(document, server.positions(document.source), params.range)

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    def folding(params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        return answers.folding_ranges(server.document(params.text_document.uri))


def _answer_about_files(server: GnarlServer) -> None:
    quick = types.CodeActionOptions([types.CodeActionKind.QuickFix])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, quick)
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        document = server.document(uri)
        positions = server.positions(document.source)

        def locate(span: Span) -> types.Location:
            return server.locate(document, uri, span)

        return answers.actions(document, positions, uri, params.range, locate)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        document = server.document(params.text_document.uri)
        return answers.symbols(document.symbols, server.positions(document.source))

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        """House style; nothing for a file with syntax errors, which is left alone."""
        document = server.document(params.text_document.uri)
        try:
            text = format_text(document.source.text)
        except SpecError:
            return None
        except InternalError as error:
            _LOG.error("%s", error)
            return None
        if text == document.source.text:
            return []
        return [types.TextEdit(server.positions(document.source).everything(), text)]
