"""The words of the language in, a TextMate grammar (VS Code, Sublime, GitHub) out.

python -m gnarl_dsl.editing.textmate     writes editors/vscode/syntaxes/gnarl.tmLanguage.json
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from gnarl_dsl.editing.vocabulary import (
    BUILTIN_NAMES,
    DECLARING,
    FEATURE_LINE,
    GROUPS,
    WINDOW_LINE,
    Group,
)

TARGET = Path(__file__).parents[2] / "editors/vscode/syntaxes/gnarl.tmLanguage.json"
_SCOPES: dict[Group, str] = {
    Group.BLOCK: "keyword.declaration.gnarl",
    Group.CLAUSE: "keyword.other.clause.gnarl",
    Group.CONTROL: "keyword.control.gnarl",
    Group.LOGIC: "keyword.operator.logical.gnarl",
    Group.FOLD: "support.function.fold.gnarl",
    Group.CONSTANT: "constant.language.gnarl",
}
_NAME = "[A-Za-z_][A-Za-z0-9_]*"
Rule = dict[str, object]


def _match(scope: str, pattern: str) -> Rule:
    return {"name": scope, "match": pattern}


def _any_of(known: Iterable[str]) -> str:
    """A pattern for one of these words, whole."""
    return rf"\b(?:{'|'.join(sorted(known))})\b"


def build_grammar() -> Rule:
    """The grammar as JSON values; the first rule that matches wins."""
    rules = [
        _match("comment.line.number-sign.gnarl", "#.*$"),
        _string(),
        _feature_line(),
        _declaration(),
        _match(_SCOPES[Group.BLOCK], WINDOW_LINE),
        *(_match(scope, _any_of(GROUPS[group])) for group, scope in _SCOPES.items()),
        _match("support.function.builtin.gnarl", _any_of(BUILTIN_NAMES)),
        _match("entity.name.function.gnarl", rf"\b{_NAME}(?=\()"),
        _match("variable.other.gnarl", rf"\b{_NAME}\b"),
        _match("constant.numeric.gnarl", r"\b[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\b"),
        _match("keyword.operator.gnarl", r":=|==|!=|<=|>=|~=|\.\.|[-+*/<>=~|]"),
        _match("punctuation.separator.gnarl", "[:,]"),
        _match("meta.brace.gnarl", r"[(){}\[\]]"),
    ]
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "GNARL",
        "scopeName": "source.gnarl",
        "fileTypes": ["gnarl"],
        "patterns": rules,
    }


def _string() -> Rule:
    """A text in double quotes, which may go on over lines."""
    return {
        "name": "string.quoted.double.gnarl",
        "begin": '"',
        "end": '"',
        "patterns": [_match("constant.character.escape.gnarl", r"\\.")],
    }


def _declaration() -> Rule:
    """A block's first word and the name that it declares, as one match."""
    return {
        "match": rf"^({'|'.join(DECLARING)})\s+({_NAME})",
        "captures": {
            "1": {"name": _SCOPES[Group.BLOCK]},
            "2": {"name": "entity.name.type.gnarl"},
        },
    }


def _feature_line() -> Rule:
    """Name, stage, location and type of a feature."""
    scopes = {
        "2": "variable.other.declaration.gnarl",
        "4": "storage.modifier.gnarl",
        "6": "storage.modifier.gnarl",
        "7": "variable.parameter.gnarl",
        "9": "storage.type.gnarl",
    }
    captures = {group: {"name": scope} for group, scope in scopes.items()}
    return {"match": FEATURE_LINE, "captures": captures}


def grammar_text() -> str:
    return json.dumps(build_grammar(), indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(grammar_text(), "utf-8")
    print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()
