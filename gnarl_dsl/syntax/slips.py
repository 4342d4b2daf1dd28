"""The place where a parser stopped in, what its author probably meant to write out.

Each slip is a small function that looks at the surroundings of the unexpected token and
says what to write instead, or None. They are tried in order; the first answer counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gnarl_dsl.report.source import Source, Span
from gnarl_dsl.report.suggestions import nearest
from gnarl_dsl.syntax.layout import Lexeme, LogicalLine
from gnarl_dsl.syntax.scan import BRACKETS

COMPARISONS = frozenset(["==", "!=", "<", "<=", ">", ">=", "~="])
_FOLDS = frozenset(["count", "sum", "min", "max", "argmin", "argmax"])
_OPENED_BY = {closing: opening for opening, closing in BRACKETS.items()}


@dataclass(frozen=True)
class Surroundings:
    """Where the parser stopped: at token `at`, with `expected` terminals; `signs` spells them."""

    source: Source
    lexemes: Sequence[Lexeme]
    lines: Sequence[LogicalLine]
    at: Lexeme
    expected: frozenset[str]
    signs: Mapping[str, str]

    @cached_property
    def words(self) -> frozenset[str]:
        """The expected terminals as they are written."""
        return frozenset(self.signs.get(name, name) for name in self.expected)

    @property
    def head(self) -> str:
        return str(self.lexemes[0])

    @property
    def line(self) -> LogicalLine:
        return self.lines[self.at.line]

    @cached_property
    def before(self) -> list[Lexeme]:
        """The tokens of this line before the unexpected one."""
        return [lexeme for lexeme in self._line_lexemes() if lexeme.span < self.at.span]

    @cached_property
    def after(self) -> list[Lexeme]:
        return [lexeme for lexeme in self._line_lexemes() if lexeme.span > self.at.span]

    def _line_lexemes(self) -> list[Lexeme]:
        return [lexeme for lexeme in self.lexemes if lexeme.line == self.at.line and lexeme]

    def back(self, count: int) -> str:
        """The token so many places before the unexpected one, as text."""
        return str(self.before[-count]) if len(self.before) >= count else ""

    @property
    def next(self) -> str:
        return str(self.after[0]) if self.after else ""

    @property
    def last_span(self) -> Span:
        """The last thing that was understood."""
        return self.before[-1].span if self.before else self.lexemes[0].span

    @property
    def touches_last(self) -> bool:
        return self.last_span.end == self.at.span.start

    @property
    def touches_next(self) -> bool:
        return bool(self.after) and self.after[0].span.start == self.at.span.end

    @property
    def ends_row(self) -> bool:
        """Whether nothing follows on the same physical line."""
        starts = {word.span for word in self.line.starts}
        return not self.after or self.after[0].span in starts


def likely_fix(place: Surroundings) -> str | None:
    return next((fix for slip in _SLIPS if (fix := slip(place))), None)


def _foreign_word(place: Surroundings) -> str | None:
    return _FOREIGN_WORDS.get(place.line.words[0].text)


def _colon_at_the_end(place: Surroundings) -> str | None:
    if place.at == ":" and place.ends_row and place.before:
        return f"No `:` here: what is indented below `{place.before[0]}` belongs to it."
    return None


def _colon_for_equals(place: Surroundings) -> str | None:
    if place.at != ":":
        return None
    if place.head == "features":
        return f"No `:` after the name: write `{place.back(1)}  state  node  mask  …`."
    return "Write `=`." if "=" in place.words else None


def _doubled_sign(place: Surroundings) -> str | None:
    if place.touches_next and place.at + place.next in _DOUBLED_SIGNS:
        return _DOUBLED_SIGNS[place.at + place.next]
    return _DOUBLED_SIGNS.get(place.back(1) + place.at) if place.touches_last else None


def _in_place(place: Surroundings) -> str | None:
    """`d[v] += 1`."""
    if place.next != "=" or not place.touches_next or place.at not in ("+", "-", "*", "/"):
        return None
    target = place.source.snippet(place.line.words[0].span.to(place.last_span))
    return f"Write `{target} := {target} {place.at} …`."


def _second_index(place: Surroundings) -> str | None:
    if place.at == "[" and place.back(1) == "]":
        return "Two indices share one pair of brackets: `A[u, v]`."
    return None


def _quantifier_parentheses(place: Surroundings) -> str | None:
    last, word = place.back(1), place.back(3)
    if place.at == "in" and word in ("exists", "forall") and place.back(2) == "(":
        return f"Write `{word} {last} in …: …` without parentheses."
    if last in _FOLDS and "(" in place.words:
        return f"`{last}` takes parentheses: `{last}(x in nodes …)`."
    return None


def _unnamed_set(place: Surroundings) -> str | None:
    last, word = place.back(1), place.back(2)
    if "in" in place.words and word in ("exists", "forall"):
        return f"Say what `{last}` ranges over: `{word} {last} in nodes: …`."
    if last == "(" and word in _FOLDS:
        return f"Say what to range over: `{word}(x in nodes …)`."
    return None


def _body_without_colon(place: Surroundings) -> str | None:
    if ":" in place.words and "where" in place.before and place.at.type != "NEWLINE":
        return "Put a `:` between the condition after `where` and what follows it."
    return None


def _closing_too_much(place: Surroundings) -> str | None:
    opening = _OPENED_BY.get(place.at)
    if opening and _count(place, opening) <= _count(place, place.at):
        return f"There is no `{opening}` that this `{place.at}` could close."
    return None


def _count(place: Surroundings, sign: str) -> int:
    return sum(1 for lexeme in place.before if lexeme == sign)


def _factor(place: Surroundings) -> str | None:
    """`2d` or `1_000`."""
    last, at = place.back(1), place.at
    if at.type != "NAME" or not last[:1].isdigit():
        return None
    if at.startswith("_") and place.touches_last:
        return "Write the number without `_`."
    return f"To multiply, write `{last} * {at}`." if "*" in place.words else None


def _dash_in_name(place: Surroundings) -> str | None:
    joined = place.touches_last and place.touches_next
    if place.at == "-" and joined and "-" not in place.words and place.next.isidentifier():
        return f"Names use letters, digits and `_`: `{place.back(1)}_{place.next}`."
    return None


def _misspelt(place: Surroundings) -> str | None:
    keywords = [word for word in place.words if word.isidentifier() and word.islower()]
    if place.at.type != "NAME" or len(place.at) < 3:
        return None
    close = nearest(place.at, keywords)
    return f"Did you mean `{close}`?" if close else None


def _continued_line(place: Surroundings) -> str | None:
    """The unexpected word starts a line that continues another."""
    if all(word.span != place.at.span for word in place.line.starts[1:]):
        return None
    this = place.source.line_of(place.at.span.start) + 1
    first = place.source.line_of(place.line.words[0].span.start) + 1
    return (
        f"Line {this} is indented deeper than line {first}, so it continues it. If it should "
        "stand on its own, line the two up."
    )


def _clause_on_head_line(place: Surroundings) -> str | None:
    if place.at in ("allow", "update") and "NEWLINE" in place.expected:
        return f"`{place.at}` stands on a line of its own, indented below the phase."
    return None


def _block_in_a_block(place: Surroundings) -> str | None:
    if place.at in _BLOCKS and not place.before:
        return f"`{place.at}` belongs to the whole spec: it begins at the left edge."
    return None


def _statement_behind_condition(place: Surroundings) -> str | None:
    opener = place.line.words[0].text
    if opener in ("if", "for") and "NEWLINE" in place.expected and ":=" in place.after:
        return f"What happens stands on the lines below `{opener}`, indented."
    return None


def _block_specific(place: Surroundings) -> str | None:
    """What a certain block needs at a certain point."""
    words, head = place.words, place.head
    if head in ("horizon", "limit") and "rounds" in words and not place.after:
        return "End the line with `rounds`: horizon and limit are counted in rounds."
    if head == "problem" and place.back(1) == "extends":
        return "`extends` takes the bare name of a spec: `extends mvc` means mvc.gnarl."
    if head == "param" and "=" in words:
        name = place.before[1] if len(place.before) > 1 else "tau"
        return f"A param has a default: `param {name} = 1`, or `param {name} : a | b = a`."
    if head == "instances" and words == {"NUMBER", "~"}:
        return f"The number of instances comes first: `{place.back(1)} 1000 {place.at}(…)`."
    if head == "drop" and place.back(1) == "drop" and place.at in ("graph", "horizon"):
        return f"Every problem needs its `{place.at}`; declare it again to replace it."
    if head == "expert" and place.at == "," and place.back(2) == "best":
        return f"Write `best of {place.back(1)}, …`."
    if words == {"uniform"}:
        return f"A rule starts with `uniform`: `{place.before[0]}: uniform v where …`."
    return "Write `terminate when …`." if words == {"when"} else None


def _text(place: Surroundings) -> str | None:
    if place.at.type == "STRING" and "NUMBER" in place.expected:
        return "A text in quotes only describes; names stand without quotes."
    return None


def _member(place: Surroundings) -> str | None:
    if place.at in ("in", "not") and "and" in place.words:
        return "A set of nodes is a mask: `in_tour[x]`, `not in_tour[x]`."
    return None


def _choice(place: Surroundings) -> str | None:
    if place.at == "if" and place.before:
        return "A choice is written `if CONDITION then A else B`."
    if "then" in place.words:
        return "Inside a formula a choice has three parts: `if CONDITION then A else B`."
    if "else" in place.words and "if" in place.before and "then" in place.before:
        return "A choice needs its `else` too: `if CONDITION then A else B`."
    return None


_FOREIGN_WORDS = {
    "elif": "Write `else if …`.",
    "while": "There are no open-ended loops; a phase is repeated until the problem ends.",
    "return": "Formulas have no `return`; an update only assigns.",
    "def": "Name a formula with `let name(x) = …`.",
}
_BLOCKS = (
    *("param", "let", "horizon", "limit", "terminate", "valid", "correct", "objective", "reward"),
    *("metric", "expert", "instances", "observe", "messages", "may"),
)
_DOUBLED_SIGNS = {
    "||": "Write `or`.",
    "**": "There is no power operator; multiply instead.",
    "//": "Comments start with `#`; division is `/`.",
    "=<": "Write `<=`.",
    "=>": "Write `>=`.",
    "<>": "Write `!=`.",
    "++": "Write `… := … + 1`.",
    "--": "Write `… := … - 1`.",
}
_SLIPS: tuple[Callable[[Surroundings], str | None], ...] = (
    _foreign_word,
    _colon_at_the_end,
    _colon_for_equals,
    _in_place,
    _doubled_sign,
    _second_index,
    _quantifier_parentheses,
    _unnamed_set,
    _closing_too_much,
    _clause_on_head_line,
    _block_in_a_block,
    _statement_behind_condition,
    _block_specific,
    _factor,
    _dash_in_name,
    _misspelt,
    _continued_line,
    _text,
    _member,
    _choice,
    _body_without_colon,
)
