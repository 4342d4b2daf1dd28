"""A syntax tree in, an indented listing out: class, fields, place in the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from gnarl_dsl.report.source import Source, Span
from gnarl_dsl.syntax import ast


def render_tree(tree: ast.Tree, source: Source) -> str:
    return "\n".join(_lines(tree, source, "", "")) + "\n"


def _lines(tree: ast.Tree, source: Source, label: str, margin: str) -> Iterator[str]:
    yield " ".join([f"{margin}{label}{type(tree).__name__}", *_words(tree), _place(tree, source)])
    for item in fields(tree):
        for child in _children(getattr(tree, item.name)):
            yield from _lines(child, source, f"{item.name}: ", margin + "  ")


def _words(tree: ast.Tree) -> Iterator[str]:
    """Names and constants stand beside the class; everything else below it."""
    for item in fields(tree):
        value = getattr(tree, item.name)
        if isinstance(value, ast.Ident):
            yield f"{item.name}={value.text}"
        elif isinstance(value, bool | str) and value != "":
            yield f"{item.name}={value!r}"
        elif isinstance(value, tuple) and value and all(isinstance(v, ast.Ident) for v in value):
            yield f"{item.name}={','.join(ident.text for ident in value)}"


def _children(value: object) -> Iterator[ast.Tree]:
    if isinstance(value, tuple) and not isinstance(value, Span):
        if not all(isinstance(item, ast.Ident) for item in value):
            for item in value:
                yield from [item] if isinstance(item, ast.Ident) else _children(item)
    elif isinstance(value, ast.Tree) and not isinstance(value, ast.Ident):
        yield value


def _place(tree: ast.Tree, source: Source) -> str:
    start = tree.span.start
    return f"{source.line_of(start) + 1}:{source.column_of(start) + 1}"
