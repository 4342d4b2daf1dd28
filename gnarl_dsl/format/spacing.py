"""Words of a logical line in, an `Entry` out: its kind and the spaces its words need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from gnarl_dsl.syntax.layout import WINDOW_WORDS
from gnarl_dsl.syntax.scan import CLOSING, OPENING, Word

STEP = 2  # spaces per level
_TIGHT_BEFORE = CLOSING | {",", ":", ".."}
_TIGHT_AFTER = OPENING | {".."}
# Keywords that stand before a bracket like a function, and those that are values.
_CALLED = frozenset(
    ["count", "sum", "min", "max", "any", "argmin", "argmax", "last", "uniform", "graph"]
)
_VALUES = frozenset(["true", "false", "inf", "correct", "valid"])


class Kind(Enum):
    """What a logical line is, as far as its columns are concerned."""

    PARAM = auto()
    FEATURE = auto()
    LET = auto()
    ASSIGN = auto()
    BOUND = auto()  # horizon, limit
    END = auto()  # terminate, valid, correct
    VALUE = auto()  # objective, metric
    REWARD = auto()
    RULE = auto()  # a phase of an expert
    SPLIT = auto()
    PLAIN = auto()


@dataclass(frozen=True, slots=True)
class Row:
    """A physical line: its first word, the comments above it, the one behind it."""

    first: int
    above: tuple[str, ...]
    behind: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A logical line; `origins` are the columns its words had, `gaps` the spaces they need."""

    kind: Kind
    depth: int
    words: tuple[Word, ...]
    origins: tuple[int, ...]
    gaps: tuple[int, ...]
    rows: tuple[Row, ...]
    blank: bool

    @property
    def indent(self) -> int:
        return STEP * self.depth

    @property
    def first_row_end(self) -> int:
        return self.rows[1].first if len(self.rows) > 1 else len(self.words)


# Kinds

_TOP_KINDS: Mapping[str, Kind] = {
    "param": Kind.PARAM,
    "let": Kind.LET,
    "horizon": Kind.BOUND,
    "limit": Kind.BOUND,
    "terminate": Kind.END,
    "valid": Kind.END,
    "correct": Kind.END,
    "objective": Kind.VALUE,
    "metric": Kind.VALUE,
    "reward": Kind.REWARD,
}
_NESTED_KINDS: Mapping[str, Kind] = {
    "features": Kind.FEATURE,
    "expert": Kind.RULE,
    "instances": Kind.SPLIT,
}


def kind_of(block: str, depth: int, words: Sequence[Word]) -> Kind:
    """The kind of a line at `depth` of a block that starts with the word `block`."""
    if depth == 0:
        return _TOP_KINDS.get(block, Kind.PLAIN)
    if block == "phase" and words[0].text == "let":
        return Kind.LET
    if block == "phase" and find(words, ":=") is not None:
        return Kind.ASSIGN
    return _NESTED_KINDS.get(block, Kind.PLAIN)


def find(words: Sequence[Word], *texts: str) -> int | None:
    return next((i for i, word in enumerate(words) if word.text in texts), None)


# Spaces between two words


def gaps_of(words: Sequence[Word], keywords: frozenset[str]) -> tuple[int, ...]:
    """How many spaces stand before each word when nothing is aligned."""
    return (0, *(_gap(words, i, keywords) for i in range(1, len(words))))


def _gap(words: Sequence[Word], index: int, keywords: frozenset[str]) -> int:
    before, word = words[index - 1], words[index]
    if word.kind == "string":
        return STEP
    if before.text in _TIGHT_AFTER or _is_sign_of_number(words, index - 1, keywords):
        return 0
    if word.text in ("(", "["):
        return 0 if _can_be_called(words, index - 1, keywords) else 1
    if word.text == ":" and ((words[0].text == "param" and index == 2) or _is_extern(words)):
        return 1
    return 0 if word.text in _TIGHT_BEFORE else 1


def _is_extern(words: Sequence[Word]) -> bool:
    """`extern NAME(`: no other line starts like this, whatever it calls `extern`."""
    return [word.text for word in words[0:3:2]] == ["extern", "("]


def _is_sign_of_number(words: Sequence[Word], index: int, keywords: frozenset[str]) -> bool:
    """A minus that follows no value is the sign of what comes next."""
    return words[index].text == "-" and not _ends_value(words, index - 1, keywords)


def _ends_value(words: Sequence[Word], index: int, keywords: frozenset[str]) -> bool:
    word = words[index]
    if index <= 0 or _is_reward_kind(words, index):
        return False
    if word.kind == "name":
        return word.text not in keywords or word.text in _VALUES
    return word.kind == "number" or word.text in CLOSING


def _can_be_called(words: Sequence[Word], index: int, keywords: frozenset[str]) -> bool:
    word = words[index]
    if word.kind != "name" or _is_reward_kind(words, index) or _heads_window(words, index):
        return False
    return word.text not in keywords or word.text in _CALLED


def _is_reward_kind(words: Sequence[Word], index: int) -> bool:
    """`reward NAME KIND (…)`: the bracket begins the formula, it is no call."""
    return index == 2 and words[0].text == "reward"


def _heads_window(words: Sequence[Word], index: int) -> bool:
    """`messages (x, y) in edges`: no call, but the first word of a line at the margin."""
    at_margin = [word.text for word in words[index + 5 : index + 7]] == [")", "in"]
    return index == 0 and words[0].text in WINDOW_WORDS and at_margin


def width_of(word: Word) -> int:
    """Columns that a word takes; further lines of a text start one column after its quote."""
    first, *others = word.text.split("\n")
    return max(len(first), *(1 + len(line) for line in others)) if others else len(first)
