"""Text of a spec in, coloured tokens out: the lexer that Pygments finds under `gnarl`."""

from __future__ import annotations

import re
from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Token, _TokenType

from gnarl_dsl.editing.vocabulary import BUILTIN_NAMES, FEATURE_LINE, GROUPS, WINDOW_LINE, Group

_COLOURS: dict[Group, _TokenType] = {
    Group.BLOCK: Token.Keyword.Declaration,
    Group.CLAUSE: Token.Keyword,
    Group.CONTROL: Token.Keyword,
    Group.LOGIC: Token.Operator.Word,
    Group.FOLD: Token.Keyword.Pseudo,
    Group.CONSTANT: Token.Keyword.Constant,
}
_SPACE, _TYPE = Token.Text.Whitespace, Token.Keyword.Type
_FEATURE_COLOURS = (
    *(_SPACE, Token.Name.Variable, _SPACE),
    *(_TYPE, _SPACE, _TYPE, Token.Name, _SPACE, _TYPE),
)
_Rule = tuple[object, object]


def _one_of(known: tuple[str, ...]) -> words:
    """Any of these words, whole."""
    return words(known, prefix=r"\b", suffix=r"\b")


class GnarlLexer(RegexLexer):  # type: ignore[misc]
    """Specs of graph decision problems, as gnarl-dsl reads them."""

    name = "GNARL"
    aliases: ClassVar[list[str]] = ["gnarl"]
    filenames: ClassVar[list[str]] = ["*.gnarl"]
    mimetypes: ClassVar[list[str]] = ["text/x-gnarl"]
    version_added = ""
    flags = re.MULTILINE

    tokens: ClassVar[dict[str, list[_Rule]]] = {
        "root": [
            (FEATURE_LINE, bygroups(*_FEATURE_COLOURS)),
            (WINDOW_LINE, _COLOURS[Group.BLOCK]),
            (r"[ \t]+|\n", Token.Text.Whitespace),
            (r"#[^\n]*", Token.Comment.Single),
            (r'"(?:\\.|[^"\\])*"', Token.String.Double),
            *((_one_of(tuple(GROUPS[group])), colour) for group, colour in _COLOURS.items()),
            (_one_of(BUILTIN_NAMES), Token.Name.Builtin),
            (r"[^\W\d]\w*(?=\()", Token.Name.Function),
            (r"[^\W\d]\w*", Token.Name),
            (r"[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?", Token.Number.Float),
            (r"[0-9]+(?:[eE][+-]?[0-9]+)?", Token.Number.Integer),
            (r":=|==|!=|<=|>=|~=|\.\.|[-+*/<>=~|]", Token.Operator),
            (r"[:,(){}\[\]…]", Token.Punctuation),
        ]
    }
