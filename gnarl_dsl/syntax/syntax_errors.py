"""A token the parser did not expect in, the most helpful syntax diagnostic out."""

from __future__ import annotations

from collections.abc import Mapping

from gnarl_dsl.report.diagnostics import Collector
from gnarl_dsl.report.source import Span
from gnarl_dsl.syntax.layout import Lexeme
from gnarl_dsl.syntax.slips import COMPARISONS, Surroundings, likely_fix

# A short right form per block or line, shown under its syntax errors.
EXAMPLES: Mapping[str, str] = {
    "gnarl": "gnarl 1",
    "problem": 'problem shortest_paths\n  "What the problem is, in a sentence."',
    "param": 'param tau = 0.05   "budget"',
    "graph": "graph undirected connected",
    "features": 'features\n  reach  state  node(x)  mask  = s[x]  "has been reached"',
    "let": "let useful(x) = mask[x] and exists y in neighbors(x): not mask[y]",
    "phase": "phase target(v)\n  allow edge(u, v)\n  update\n    reach[v] := true",
    "allow": "allow edge(u, v) and not mask[v]",
    "update": "update\n  reach[v] := true",
    "if": "if not mask[v]\n  mask[v] := true",
    "else": "if mask[v]\n  d[v] := 0\nelse\n  d[v] := 1",
    "for": "for x in nodes where edge(u, x)\n  mask[x] := true",
    "horizon": "horizon n - 1 rounds",
    "limit": "limit 2 * work rounds",
    "terminate": "terminate when forall x in nodes: reach[x]",
    "valid": "valid forall (x, y) in edges: in_cover[x] or in_cover[y]",
    "correct": "correct forall x in nodes: d[x] ~= dist[x]",
    "objective": "objective cover = -sum(x in nodes where in_cover[x]: w[x])",
    "reward": "reward haste step = -1",
    "metric": "metric ratio = -cover / best",
    "expert": "expert nearest\n  visit: uniform v where not in_tour[v] minimising A[here, v]",
    "instances": "instances er\n  train 1000  er(n = {4, 7, 11}, p = [0.1, 0.9])",
    "extern": "extern largest_part(removed : node mask) : graph scalar",
    "drop": "drop expert optimal, nearest",
    "observe": "observe x in nodes where not in_tour[x] minimising A[here, x] first 24",
    "messages": "messages (x, y) in edges minimising A[x, y] first 16",
    "may": "may stop when count(x in nodes where chosen[x]) >= 2",
}
_ASSIGNMENT = "d[v] := d[u] + A[u, v]"

_READABLE: Mapping[str, str] = {
    "NAME": "a name",
    "NUMBER": "a number",
    "FIRST": "`first N`",
    "STOP": "`stop`",
    "STRING": 'a text in "quotes"',
    "NEWLINE": "the end of the line",
    "INDENT": "an indented block",
    "DEDENT": "the end of the block",
    "$END": "the end of the block",
}
# Every token that can begin an expression; when all are possible, say so in one word.
_EXPRESSION_STARTS = frozenset({"NAME", "NUMBER", "LPAR", "TRUE", "FALSE", "INF", "LAST"})
_OPERATORS = COMPARISONS | frozenset(["+", "-", "*", "/", "and", "or", "otherwise", "..", "(", "["])


def report_syntax_error(place: Surroundings, found: Collector) -> int:
    """Choose the code that fits; the number of the line that the mistake is in."""
    at, words = place.at, place.words
    if "INDENT" in place.expected:
        return _report_empty_block(place, found)
    wants_name = "NAME" in place.expected and "NUMBER" not in place.expected
    if wants_name and at.type in place.signs and str(at).isidentifier() and not likely_fix(place):
        found.add("GN007", at.span, word=at)
    elif str(at) in COMPARISONS and "and" in words:
        found.add("GN016", at.span, op=at)
    elif str(at) in ("=", ":=") and "==" in words:
        found.add("GN017", at.span, sign=at, fix=_equals_fix(str(at)))
    elif str(at) in ("=", "==") and ":=" in words:
        found.add("GN018", at.span, sign=at)
    else:
        _report_unexpected(place, found)
    return at.line


def _report_empty_block(place: Surroundings, found: Collector) -> int:
    """The line above should have lines below it."""
    at_end = place.at.span.start >= place.line.words[-1].span.end
    number = place.at.line if at_end else place.at.line - 1
    opener = place.lines[number].words[0]
    example = EXAMPLES.get(opener.text)
    found.add("GN024", opener.span, word=opener.text, example=example)
    return number


def _report_unexpected(place: Surroundings, found: Collector) -> None:
    at, fix = place.at, likely_fix(place)
    span = at.span if at.span.end > at.span.start else _just_behind(place)
    found.add(
        "GN006",
        span,
        found=_describe_token(at),
        expected=_describe_expected(place.expected, place.signs),
        example=None if fix else _example(place),
        fix=fix,
    )


def _just_behind(place: Surroundings) -> Span:
    """Where something is missing, point at the place behind what stands there."""
    last = place.last_span
    return Span(last.end, last.end + 1, last.file)


def _example(place: Surroundings) -> str:
    first = place.line.words[0].text
    if first not in EXAMPLES and place.head == "phase":
        return _ASSIGNMENT
    return EXAMPLES.get(first) or EXAMPLES.get(place.head, EXAMPLES["let"])


def _describe_token(token: Lexeme) -> str:
    if token.type == "STRING":
        return "a text"
    return _READABLE[token.type] if token.type in _READABLE and not token else f"`{token}`"


def _describe_expected(expected: frozenset[str], signs: Mapping[str, str]) -> str:
    """The expected tokens in words, kept short: at most five alternatives."""
    rest = set(expected)
    shown: list[str] = []
    if rest >= _EXPRESSION_STARTS:
        shown.append("an expression")
        rest = {name for name in rest if name == "NEWLINE"}
    if rest >= {"NAME", "GRAPH"}:
        shown.append("a stage, location or type")
        rest -= {"NAME", "GRAPH"}
    words = {signs.get(name, name) for name in rest}
    if len(words & _OPERATORS) > 3:
        words = (words - _OPERATORS) | {"an operator"}
    plain = sorted(word for word in words if word in _READABLE or word == "an operator")
    quoted = sorted(word for word in words if word not in plain)
    shown += [f"`{word}`" for word in quoted]
    shown += dict.fromkeys(_READABLE.get(word, word) for word in plain)
    if len(shown) > 5:
        shown = [*shown[:4], "something else"]
    return " or ".join(shown) if len(shown) < 3 else ", ".join(shown[:-1]) + " or " + shown[-1]


def _equals_fix(sign: str) -> str:
    if sign == "=":
        return "To compare, write `==` (nodes, categories, counts) or `~=` (scalars)."
    return "An assignment with `:=` stands on a line of its own in an `update` block."
