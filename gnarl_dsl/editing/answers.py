"""A checked document in, values of the Language Server Protocol out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from lsprotocol import types

from gnarl_dsl.editing.asides import asides, folds
from gnarl_dsl.editing.completion import Sort, complete
from gnarl_dsl.editing.document import Document
from gnarl_dsl.editing.fixes import Edit, Fix, fixes
from gnarl_dsl.editing.hover import describe
from gnarl_dsl.editing.positions import Positions
from gnarl_dsl.editing.semantic import MODIFIERS, TYPES, tokens
from gnarl_dsl.editing.symbols import Kind, Symbol
from gnarl_dsl.report.diagnostics import Diagnostic
from gnarl_dsl.report.render import place_of
from gnarl_dsl.report.source import Span
from gnarl_dsl.report.wording import fix_of, message_of

LEGEND = types.SemanticTokensLegend(list(TYPES), list(MODIFIERS))
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
    return types.CodeAction(
        title=fix.title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[_diagnostic(fix.finding, document, locate)],
        edit=workspace_edit({uri: (positions, fix.edits)}),
    )


def workspace_edit(
    files: Mapping[str, tuple[Positions, Iterable[Edit]]],
) -> types.WorkspaceEdit:
    return types.WorkspaceEdit(
        changes={
            uri: [types.TextEdit(positions.range(edit.span), edit.text) for edit in edits]
            for uri, (positions, edits) in files.items()
        }
    )


def semantic_tokens(document: Document, positions: Positions) -> types.SemanticTokens:
    """Five numbers per name: its place beside the one before it, its length, and what it is."""
    data: list[int] = []
    line = character = 0
    for token in tokens(document):
        stretch = positions.range(token.span)
        start = stretch.start
        same = start.line == line
        data += [start.line - line, start.character - (character if same else 0)]
        data += [stretch.end.character - start.character, TYPES.index(token.type)]
        data.append(sum(1 << MODIFIERS.index(name) for name in token.modifiers))
        line, character = start.line, start.character
    return types.SemanticTokens(data)


def inlay_hints(
    document: Document, positions: Positions, stretch: types.Range
) -> list[types.InlayHint]:
    start, end = positions.offset(stretch.start), positions.offset(stretch.end)
    return [
        types.InlayHint(positions.position(own.offset), own.text, types.InlayHintKind.Type)
        for own in asides(document)
        if start <= own.offset <= end
    ]


def folding_ranges(document: Document) -> list[types.FoldingRange]:
    comment = types.FoldingRangeKind.Comment
    return [
        types.FoldingRange(fold.first, fold.last, kind=comment if fold.comment else None)
        for fold in folds(document)
    ]


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
