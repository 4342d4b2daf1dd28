"""A token the parser did not expect in, the most helpful syntax diagnostic out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gnarl_dsl.diagnostics import Collector
from gnarl_dsl.layout import Lexeme, LogicalLine
from gnarl_dsl.scope import nearest
from gnarl_dsl.source import Source, Span

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
    "reward": "reward step step -1",
    "metric": "metric ratio = -cover / best",
    "expert": "expert nearest\n  visit: uniform v where not in_tour[v] minimising A[here, v]",
    "instances": "instances er\n  train 1000  er(n = {4, 7, 11}, p = [0.1, 0.9])",
    "drop": "drop expert optimal, nearest",
}
_ASSIGNMENT = "d[v] := d[u] + A[u, v]"

_READABLE: Mapping[str, str] = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": 'a text in "quotes"',
    "NEWLINE": "the end of the line",
    "INDENT": "an indented block",
    "DEDENT": "the end of the block",
    "$END": "the end of the block",
}
# Every token that can begin an expression; when all are possible, say so in one word.
_EXPRESSION_STARTS = frozenset({"NAME", "NUMBER", "LPAR", "TRUE", "FALSE", "INF", "LAST"})
_COMPARISONS = frozenset("== != < <= > >= ~=".split())
_OPERATORS = _COMPARISONS | frozenset("+ - * / and or otherwise .. ( [".split())
_FOLDS = frozenset("count sum min max argmin argmax".split())


@dataclass(frozen=True)
class Surroundings:
    """Where the parser stopped: at token `at`, with `expected` terminals; `signs` spells them."""

    source: Source
    lexemes: Sequence[Lexeme]
    lines: Sequence[LogicalLine]
    at: Lexeme
    expected: frozenset[str]
    signs: Mapping[str, str]

    @property
    def words(self) -> frozenset[str]:
        """The expected terminals as they are written."""
        return frozenset(self.signs.get(name, name) for name in self.expected)

    @property
    def head(self) -> str:
        return str(self.lexemes[0])

    @property
    def line(self) -> LogicalLine:
        return self.lines[self.at.line]

    @property
    def before(self) -> list[str]:
        """The tokens of this line before the unexpected one, as text."""
        return [str(lexeme) for lexeme in self._line_lexemes(after=False)]

    @property
    def after(self) -> list[str]:
        return [str(lexeme) for lexeme in self._line_lexemes(after=True)]

    def _line_lexemes(self, after: bool) -> list[Lexeme]:
        """Lexemes with text in the line of `at`, on one side of it."""
        here = self.at.span.start
        return [
            lexeme
            for lexeme in self.lexemes
            if lexeme.line == self.at.line and lexeme and lexeme is not self.at
            if (lexeme.span.start >= here) == after
        ]

    def last_span(self) -> Span:
        """The last thing that was understood."""
        done = self._line_lexemes(after=False)
        return done[-1].span if done else self.lexemes[0].span

    def touches_last(self) -> bool:
        return self.last_span().end == self.at.span.start


def report_syntax_error(place: Surroundings, found: Collector) -> int:
    """Choose the code that fits; the number of the line that the mistake is in."""
    at, words = place.at, place.words
    if "INDENT" in place.expected and at.type != "INDENT" and not place.before:
        return _report_empty_block(place, found)
    wants_name = "NAME" in place.expected and "NUMBER" not in place.expected
    if wants_name and at.type in place.signs and str(at).isidentifier() and not _fix(place):
        found.add("GN007", at.span, word=at)
    elif str(at) in _COMPARISONS and "and" in words:
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
    ends = place.at is place.lexemes[-1] or place.at.type in ("DEDENT", "$END")
    number = place.at.line if ends and place.before else max(place.at.line - 1, 0)
    opener = place.lines[number].words[0]
    example = EXAMPLES.get(opener.text)
    found.add("GN024", opener.span, word=opener.text, example=example)
    return number


def _report_unexpected(place: Surroundings, found: Collector) -> None:
    at = place.at
    span = at.span if at.span.end > at.span.start else _just_behind(place)
    found.add(
        "GN006",
        span,
        found=describe_token(at),
        expected=describe_expected(place.expected, place.signs),
        example=_example(place),
        fix=_fix(place),
    )


def _just_behind(place: Surroundings) -> Span:
    """Where something is missing, point at the place behind what stands there."""
    last = place.last_span()
    return Span(last.end, last.end + 1, last.file)


def _example(place: Surroundings) -> str:
    first = place.line.words[0].text
    if first not in EXAMPLES and place.head == "phase":
        return _ASSIGNMENT
    return EXAMPLES.get(first) or EXAMPLES.get(place.head, EXAMPLES["let"])


def describe_token(token: Lexeme) -> str:
    if token.type == "STRING":
        return "a text"
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
    shown += [f"`{word}`" for word in quoted]
    shown += dict.fromkeys(_READABLE.get(word, word) for word in plain)
    if len(shown) > 5:
        shown = [*shown[:5], "…"]
    return " or ".join(shown) if len(shown) < 3 else ", ".join(shown[:-1]) + " or " + shown[-1]


def _equals_fix(sign: str) -> str:
    if sign == "=":
        return "To compare, write `==` (nodes, categories, counts) or `~=` (scalars)."
    return "An assignment with `:=` stands on a line of its own in an `update` block."


# Likely slips, tried in order; each looks at the surroundings and says what to write instead.


def _fix(place: Surroundings) -> str | None:
    return next((fix for slip in _SLIPS if (fix := slip(place))), None)


def _foreign_word(place: Surroundings) -> str | None:
    return _FOREIGN_WORDS.get(place.line.words[0].text)


def _colon_at_the_end(place: Surroundings) -> str | None:
    first = place.line.words[0].text
    if str(place.at) == ":" and not place.after:
        return f"No `:` here: what is indented below `{first}` belongs to it."
    return None


def _doubled_sign(place: Surroundings) -> str | None:
    last = place.before[-1] if place.before else ""
    return _DOUBLED_SIGNS.get(last + str(place.at)) if place.touches_last() else None


def _in_place(place: Surroundings) -> str | None:
    """`d[v] += 1`."""
    before = place.before
    if str(place.at) != "=" or not before or before[-1] not in ("+", "-", "*", "/"):
        return None
    target = place.source.snippet(place.line.words[0].span.to(place.last_span()))[:-1].strip()
    return f"Write `{target} := {target} {before[-1]} …`."


def _python_if(place: Surroundings) -> str | None:
    if str(place.at) == "if" and place.before:
        return "A choice is written `if CONDITION then A else B`."
    if "then" in place.words and str(place.at) != "then":
        return "Inside a formula a choice has three parts: `if CONDITION then A else B`."
    if "else" in place.words and "if" in place.before and "then" in place.before:
        return "A choice needs its `else` too: `if CONDITION then A else B`."
    return None


def _second_index(place: Surroundings) -> str | None:
    if str(place.at) == "[" and place.before[-1:] == ["]"]:
        return "Two indices share one pair of brackets: `A[u, v]`."
    return None


def _member(place: Surroundings) -> str | None:
    if str(place.at) in ("in", "not") and "and" in place.words:
        return "Sets of nodes are masks here: `in_tour[x]`, `not in_tour[x]`."
    return None


def _quantifier_parentheses(place: Surroundings) -> str | None:
    before = place.before
    for word in ("exists", "forall"):
        if str(place.at) == "in" and before[-3:-1] == [word, "("]:
            return f"Write `{word} {before[-1]} in …: …` without parentheses."
    if before and before[-1] in _FOLDS and "(" in place.words:
        return f"`{before[-1]}` takes parentheses: `{before[-1]}(x in nodes …)`."
    return None


def _unnamed_set(place: Surroundings) -> str | None:
    before = place.before
    if "in" in place.words and len(before) > 1 and before[-2] in ("exists", "forall"):
        return f"Say what `{before[-1]}` ranges over: `{before[-2]} {before[-1]} in nodes: …`."
    return None


def _factor(place: Surroundings) -> str | None:
    """`2d` or `1_000`."""
    before, at = place.before, place.at
    if at.type != "NAME" or not before or not before[-1][:1].isdigit():
        return None
    if at.startswith("_") and place.touches_last():
        return "Write the number without `_`."
    return f"To multiply, write `{before[-1]} * {at}`."


def _rounds(place: Surroundings) -> str | None:
    if place.head in ("horizon", "limit") and "rounds" in place.words and not place.after:
        return "End the line with `rounds`: horizon and limit are counted in rounds."
    return None


def _when(place: Surroundings) -> str | None:
    return "Write `terminate when …`." if place.words == {"when"} else None


def _misspelt(place: Surroundings) -> str | None:
    keywords = [word for word in place.words if word.isidentifier() and word.islower()]
    if place.at.type != "NAME":
        return None
    close = nearest(str(place.at), keywords)
    return f"Did you mean `{close}`?" if close else None


def _continued_line(place: Surroundings) -> str | None:
    """The unexpected word starts a line that continues another."""
    start = next((w for w in place.line.starts[1:] if w.span == place.at.span), None)
    if start is None:
        return None
    this = place.source.line_of(place.at.span.start) + 1
    first = place.source.line_of(place.line.words[0].span.start) + 1
    return (
        f"Line {this} is indented deeper than line {first}, so it continues it. If it should "
        "stand on its own, line the two up."
    )


_FOREIGN_WORDS = {
    "elif": "Write `else if …`.",
    "while": "There are no open-ended loops; a phase is repeated until the problem ends.",
    "return": "Formulas have no `return`; an update only assigns.",
    "def": "Name a formula with `let name(x) = …`.",
}
_DOUBLED_SIGNS = {
    "||": "Write `or`.",
    "**": "There is no power operator; multiply instead.",
    "//": "Comments start with `#`; division is `/`.",
    "=<": "Write `<=`.",
    "=>": "Write `>=`.",
    "<>": "Write `!=`.",
    "++": "Write `… := … + 1`.",
    "/=": "Write `!=`, or `… := … / …` in an update.",
}
_SLIPS: tuple[Callable[[Surroundings], str | None], ...] = (
    _foreign_word,
    _colon_at_the_end,
    _doubled_sign,
    _in_place,
    _second_index,
    _quantifier_parentheses,
    _unnamed_set,
    _rounds,
    _when,
    _factor,
    _misspelt,
    _continued_line,
    _member,
    _python_if,
)
