"""A checked document in, values of the Language Server Protocol out."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lsprotocol import types

from gnarl_dsl.editing.completion import Sort, complete
from gnarl_dsl.editing.document import Document
from gnarl_dsl.editing.fixes import Fix, fixes
from gnarl_dsl.editing.hover import describe
from gnarl_dsl.editing.positions import Positions
from gnarl_dsl.editing.symbols import Kind, Symbol
from gnarl_dsl.report.diagnostics import Diagnostic
from gnarl_dsl.report.render import place_of
from gnarl_dsl.report.source import Span
from gnarl_dsl.report.wording import fix_of, message_of

# Where a span lies: file and range.
Locate = Callable[[Span], types.Location]
_SORTS = {
    Sort.KEYWORD: types.CompletionItemKind.Keyword,
    Sort.VARIABLE: types.CompletionItemKind.Variable,
    Sort.FEATURE: types.CompletionItemKind.Field,
    Sort.FUNCTION: types.CompletionItemKind.Function,
    Sort.PARAM: types.CompletionItemKind.Constant,
    Sort.PHASE: types.CompletionItemKind.Event,
    Sort.WORD: types.CompletionItemKind.EnumMember,
    Sort.FILE: types.CompletionItemKind.File,
}
_KINDS = {
    Kind.PROBLEM: types.SymbolKind.Module,
    Kind.PARAM: types.SymbolKind.Constant,
    Kind.FEATURES: types.SymbolKind.Struct,
    Kind.FEATURE: types.SymbolKind.Field,
    Kind.LET: types.SymbolKind.Function,
    Kind.PHASE: types.SymbolKind.Event,
    Kind.CLAUSE: types.SymbolKind.Property,
    Kind.OBJECTIVE: types.SymbolKind.Number,
    Kind.REWARD: types.SymbolKind.Number,
    Kind.METRIC: types.SymbolKind.Number,
    Kind.EXPERT: types.SymbolKind.Method,
    Kind.INSTANCES: types.SymbolKind.Array,
}


def diagnostics(document: Document, locate: Locate) -> list[types.Diagnostic]:
    return [_diagnostic(finding, document, locate) for finding in document.checked.diagnostics]


def _diagnostic(finding: Diagnostic, document: Document, locate: Locate) -> types.Diagnostic:
    """A finding; one in an extended file is shown where this file names it."""
    message = message_of(finding)
    fix = fix_of(finding)
    span = finding.span
    if span.file != 0:
        message = f"{place_of(span, document.checked.sources)}: {message}"
        span = _extends(document)
    example = f"\nFor example:\n{finding.example}" if finding.example else ""
    error, warning = types.DiagnosticSeverity.Error, types.DiagnosticSeverity.Warning
    return types.Diagnostic(
        range=locate(span).range,
        message=f"{message}\n{fix}{example}" if fix else f"{message}{example}",
        severity=error if finding.is_error else warning,
        code=finding.code,
        source="gnarl",
        related_information=[
            types.DiagnosticRelatedInformation(locate(note.span), note.text)
            for note in finding.notes
        ],
    )


def actions(
    document: Document, positions: Positions, uri: str, stretch: types.Range, locate: Locate
) -> list[types.CodeAction]:
    """Edits that mend what was found in a stretch of the text."""
    start, end = positions.offset(stretch.start), positions.offset(stretch.end)
    return [_action(fix, document, positions, uri, locate) for fix in fixes(document, start, end)]


def _action(
    fix: Fix, document: Document, positions: Positions, uri: str, locate: Locate
) -> types.CodeAction:
    edits = [types.TextEdit(positions.range(edit.span), edit.text) for edit in fix.edits]
    return types.CodeAction(
        title=fix.title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[_diagnostic(fix.finding, document, locate)],
        edit=types.WorkspaceEdit(changes={uri: edits}),
    )


def _extends(document: Document) -> Span:
    problem = next((s for s in document.symbols if s.kind is Kind.PROBLEM), None)
    return problem.tree.span if problem else Span(0, 0)


def hover(document: Document, positions: Positions, position: types.Position) -> types.Hover | None:
    place = document.place_at(positions.offset(position))
    text = describe(document, place) if place else None
    if place is None or text is None:
        return None
    markdown = types.MarkupContent(types.MarkupKind.Markdown, text)
    return types.Hover(markdown, positions.range(place.word.span))


def completion(
    document: Document, positions: Positions, position: types.Position
) -> types.CompletionList:
    """Suggestions in the order in which they are likely."""
    found = complete(document, positions.offset(position))
    items = [
        types.CompletionItem(
            label=item.text,
            kind=_SORTS[item.sort],
            detail=item.detail or None,
            documentation=types.MarkupContent(types.MarkupKind.Markdown, item.doc),
            sort_text=f"{number:04d}",
        )
        for number, item in enumerate(found)
    ]
    return types.CompletionList(is_incomplete=False, items=items)


def symbols(known: Iterable[Symbol], positions: Positions) -> list[types.DocumentSymbol]:
    """The outline of a file."""
    return [
        types.DocumentSymbol(
            name=symbol.name,
            kind=_KINDS[symbol.kind],
            range=positions.range(symbol.tree.span),
            selection_range=positions.range(symbol.at),
            detail=symbol.kind.value if symbol.kind is not Kind.CLAUSE else None,
            children=symbols(symbol.parts, positions) or None,
        )
        for symbol in known
    ]
