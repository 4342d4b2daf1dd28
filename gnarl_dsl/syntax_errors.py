"""A token the parser did not expect in, the most helpful syntax diagnostic out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gnarl_dsl.diagnostics import Collector
from gnarl_dsl.layout import Lexeme
from gnarl_dsl.scope import nearest
from gnarl_dsl.source import Span

# A short right form per block, shown under its syntax errors.
EXAMPLES: Mapping[str, str] = {
    "gnarl": "gnarl 1",
    "problem": 'problem shortest_paths\n  "What the problem is, in a sentence."',
    "param": 'param tau = 0.05   "budget"',
    "graph": "graph undirected connected",
    "features": 'features\n  reach  state  node(x)  mask  = s[x]  "has been reached"',
    "let": "let useful(x) = mask[x] and exists y in neighbors(x): not mask[y]",
    "phase": "phase target(v)\n  allow edge(u, v)\n  update\n    reach[v] := true",
    "horizon": "horizon n - 1 rounds",
    "limit": "limit 2 * work rounds",
    "terminate": "terminate when forall x in nodes: reach[x]",
    "valid": "valid forall (x, y) in edges: in_cover[x] or in_cover[y]",
    "correct": "correct forall x in nodes: d[x] ~= dist[x]",
    "objective": "objective cover = -sum(x in nodes where in_cover[x]: w[x])",
    "reward": "reward step step -1",
    "metric": "metric ratio = -cover / best",
    "expert": "expert nearest\n  visit: uniform v where not in_tour[v] minimising A[here, v]",
    "instances": "instances er\n  train 1000  er(n = {4, 7, 11}, p = [0.1, 0.9])",
    "drop": "drop expert optimal, nearest",
}

_READABLE: Mapping[str, str] = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": 'a text in "quotes"',
    "NEWLINE": "the end of the line",
    "INDENT": "an indented block",
    "DEDENT": "the end of the block",
}
# Every token that can begin an expression; when all are possible, say so in one word.
_EXPRESSION_STARTS = frozenset({"NAME", "NUMBER", "LPAR", "TRUE", "FALSE", "INF", "LAST"})
_OPERATORS = frozenset(
    [
        "+",
        "-",
        "*",
        "/",
        "and",
        "or",
        "==",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "~=",
        "otherwise",
        "..",
        "(",
        "[",
    ]
)
_COMPARISONS = frozenset(["==", "!=", "<", "<=", ">", ">=", "~="])


def report_syntax_error(
    lexemes: Sequence[Lexeme],
    at: Lexeme,
    expected: frozenset[str],
    signs: Mapping[str, str],
    found: Collector,
) -> None:
    """Choose the code that fits what stands at `at`; `signs` maps terminals to their text."""
    head = str(lexemes[0])
    words = frozenset(signs.get(name, name) for name in expected)
    before = _previous(lexemes, at)
    span = at.span if at.span.end > at.span.start else _last_character(before.span)
    example = EXAMPLES.get(head, EXAMPLES["let"])
    if "NAME" in expected and at.type in signs and str(at).isidentifier():
        found.add("GN007", at.span, word=at)
    elif str(at) in _COMPARISONS and "and" in words:
        found.add("GN016", at.span, op=at)
    elif str(at) in ("=", ":=") and "==" in words:
        found.add("GN017", at.span, sign=at, fix=_equals_fix(head, str(at)))
    elif str(at) in ("=", "==") and ":=" in words:
        found.add("GN018", at.span, sign=at)
    else:
        found.add(
            "GN006",
            span,
            found=describe_token(at),
            expected=describe_expected(expected, signs),
            example=example,
            fix=_spelling_fix(at, words),
        )


def _previous(lexemes: Sequence[Lexeme], at: Lexeme) -> Lexeme:
    for index, lexeme in enumerate(lexemes):
        if lexeme is at:
            return lexemes[max(index - 1, 0)]
    return lexemes[-1]


def _last_character(span: Span) -> Span:
    """Where something is missing, point just behind what stands there."""
    return Span(max(span.end - 1, span.start), max(span.end, span.start + 1), span.file)


def describe_token(token: Lexeme) -> str:
    return _READABLE[token.type] if token.type in _READABLE and not token else f"`{token}`"


def describe_expected(expected: frozenset[str], signs: Mapping[str, str]) -> str:
    """The expected tokens in words, kept short: at most five alternatives."""
    rest = set(expected)
    shown: list[str] = []
    if rest >= _EXPRESSION_STARTS:
        shown.append("an expression")
        rest = {name for name in rest if name == "NEWLINE"}
    words = {signs.get(name, name) for name in rest}
    if len(words & _OPERATORS) > 3:
        words = (words - _OPERATORS) | {"an operator"}
    plain = sorted(word for word in words if word in _READABLE or word == "an operator")
    quoted = sorted(word for word in words if word not in plain)
    shown += [_READABLE.get(word, word) for word in plain]
    shown += [f"`{word}`" for word in quoted]
    if len(shown) > 5:
        shown = [*shown[:5], "…"]
    return " or ".join(shown) if len(shown) < 3 else ", ".join(shown[:-1]) + " or " + shown[-1]


def _equals_fix(head: str, sign: str) -> str | None:
    if sign == "=":
        return "To compare, write `==` (nodes, categories, counts) or `~=` (scalars)."
    return "An assignment with `:=` stands on a line of its own in an `update` block."


def _spelling_fix(at: Lexeme, words: frozenset[str]) -> str | None:
    keywords = [word for word in words if word.isidentifier() and word.islower()]
    if at.type != "NAME":
        return None
    close = nearest(str(at), keywords)
    return f"Did you mean `{close}`?" if close else None
