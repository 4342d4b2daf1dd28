"""Entries in, columns out: where the formatter starts each word of a logical line.

Lines of one kind that stand together share columns, as in a printed table. Nothing
here looks at how the author spaced a line, except at where continuation lines start:
what was lined up with an earlier word stays lined up with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gnarl_dsl.format.spacing import STEP, Entry, Kind, find, width_of
from gnarl_dsl.syntax.scan import CLOSING, OPENING, Word

LIMIT = 100  # no alignment pushes a line beyond this column

# Columns shared by several lines


@dataclass(frozen=True, slots=True)
class _Stop:
    """A word that starts in the column of its slot; `elastic` gives way at the LIMIT."""

    slot: int
    index: int
    gap: int = 1
    elastic: bool = False
    right: bool = False


def align(entries: Sequence[Entry]) -> list[dict[int, int]]:
    """For lines that share columns: the column of each aligned word, per line."""
    stops = [_stops(entry, entries) for entry in entries]
    placed: list[dict[int, int]] = [{} for _ in entries]
    for slot in sorted({stop.slot for own in stops for stop in own}):
        chosen = [(i, stop) for i, own in enumerate(stops) for stop in own if stop.slot == slot]
        starts = [_end(entries[i], stop.index, placed[i]) + stop.gap for i, stop in chosen]
        tails = [_rest(entries[i], stop.index) if stop.elastic else 0 for i, stop in chosen]
        column = shared_column(starts, tails)
        widest = max(_number_width(entries[i], stop) for i, stop in chosen)
        for (i, stop), start in zip(chosen, starts, strict=True):
            shift = max(0, widest - width_of(entries[i].words[stop.index])) if stop.right else 0
            placed[i][stop.index] = max(start, column) + shift
    return placed


def shared_column(starts: Sequence[int], tails: Sequence[int]) -> int:
    """The rightmost start at which every text that fits on its line (to LIMIT) still fits.

    `starts` are the first free columns, `tails` the widths of what is to stand there.
    Lines that start further right stay out of the column.
    """
    lines = list(zip(starts, tails, strict=True))
    for column in sorted({start for start in starts if start <= LIMIT}, reverse=True):
        inside = [tail for start, tail in lines if start <= column and start + tail <= LIMIT]
        if column + max(inside, default=0) <= LIMIT:
            return column
    return 0


def _end(entry: Entry, index: int, placed: Mapping[int, int]) -> int:
    """The column behind the word before `index`, on the first row."""
    cursor = entry.indent
    for i in range(index):
        cursor = placed.get(i, cursor + entry.gaps[i]) + width_of(entry.words[i])
    return cursor


def _rest(entry: Entry, index: int) -> int:
    """The width of the first row from the word `index` on."""
    span = range(index, entry.first_row_end)
    return sum(entry.gaps[i] + width_of(entry.words[i]) for i in span) - entry.gaps[index]


def _number_width(entry: Entry, stop: _Stop) -> int:
    width = width_of(entry.words[stop.index])
    return width if width <= LIMIT else 0


def _stops(entry: Entry, run: Sequence[Entry]) -> list[_Stop]:
    """The words of the first row that are aligned with other lines of the run."""
    return [stop for stop in _all_stops(entry, run) if stop.index < entry.first_row_end]


def _all_stops(entry: Entry, run: Sequence[Entry]) -> list[_Stop]:
    match entry.kind:
        case Kind.FEATURE:
            return _feature_stops(entry.words)
        case Kind.PARAM:
            return _doc_stops(entry.words, gap=3)
        case Kind.LET | Kind.VALUE | Kind.ASSIGN:
            sign = find(entry.words, "=", ":=")
            return [] if sign is None else [_Stop(1, sign, elastic=True)]
        case Kind.BOUND:
            return [_Stop(1, 1, elastic=True)]
        case Kind.END:
            return _end_stops(entry, run)
        case Kind.REWARD:
            return [_Stop(1, 2, gap=2), _Stop(2, 3)]
        case Kind.SPLIT if entry.words[1].text == "~":
            return []
        case Kind.SPLIT:
            return [_Stop(1, 1, right=True), _Stop(2, 2, gap=2)]
        case Kind.RULE:
            return [_Stop(1, 2)]
        case Kind.PLAIN:
            return []


def _end_stops(entry: Entry, run: Sequence[Entry]) -> list[_Stop]:
    """`valid` lines up with `correct`, or with `terminate when` if there is no `correct`."""
    if entry.words[0].text != "terminate":
        return [_Stop(1, 1, elastic=True)]
    alone = any(other.words[0].text == "correct" for other in run)
    return [] if alone else [_Stop(1, 2, elastic=True)]


def _feature_stops(words: Sequence[Word]) -> list[_Stop]:
    """Stage, location, type, value and doc; what stands too many is not aligned."""
    value = find(words, "=", "~")
    end = len(words) if value is None else value
    inside = ("(", ",", "|", "-")
    names = [i for i in range(1, end) if words[i].kind == "name"]
    starts = [i for i in names if words[i - 1].text not in inside]
    stops = [_Stop(slot, i, gap=2) for slot, i in enumerate(starts[:3], 1)]
    if value is not None:
        stops.append(_Stop(4, value, gap=2))
    return stops + _doc_stops(words, gap=2)


def _doc_stops(words: Sequence[Word], gap: int) -> list[_Stop]:
    is_doc = words[-1].kind == "string"
    return [_Stop(5, len(words) - 1, gap, elastic=True)] if is_doc else []


# Places of all words of one line


def place(entry: Entry, aligned: Mapping[int, int]) -> list[int]:
    """The column of every word of a logical line; `aligned` says where some of them stand."""
    return _Placer(entry, aligned).run()


@dataclass(slots=True)
class _Bracket:
    """An open bracket: the first word of its row, what stands inside, if nothing follows it."""

    row: int
    seen: dict[int, int] = field(default_factory=dict)  # old column -> new column
    hangs: bool = False


class _Placer:
    def __init__(self, entry: Entry, aligned: Mapping[int, int]) -> None:
        self.entry, self.aligned = entry, aligned
        self.columns: list[int] = []
        self.open = [_Bracket(0)]
        self.row = 0
        self.row_starts = frozenset(row.first for row in entry.rows[1:])

    def run(self) -> list[int]:
        for index in range(len(self.entry.words)):
            if index in self.row_starts:
                column = self.continuation(index)
                self.row = index
            else:
                column = self.inline(index)
            self.columns.append(column)
            self.remember(index, column)
        return self.columns

    def inline(self, index: int) -> int:
        if index == 0:
            return self.entry.indent
        end = self.columns[-1] + width_of(self.entry.words[index - 1])
        return self.aligned.get(index, end + self.entry.gaps[index])

    def remember(self, index: int, column: int) -> None:
        text = self.entry.words[index].text
        if text in CLOSING:
            self.open.pop()
        if column > self.entry.indent:
            self.open[-1].seen[self.entry.origins[index]] = column
        if text in OPENING:
            self.open.append(_Bracket(self.row, hangs=index + 1 in self.row_starts))

    def continuation(self, index: int) -> int:
        """Where a continuation line starts."""
        inner = self.open[-1]
        if self.entry.words[index].text in CLOSING and inner.hangs:
            return self.columns[inner.row]
        base = self.base()
        if len(self.open) == 1 and self.entry.kind in (Kind.FEATURE, Kind.RULE):
            return base
        column = self.kept(index, base)
        return column if column <= LIMIT else base

    def base(self) -> int:
        """Where the value of a feature or the choice of an expert starts, else two levels in."""
        plain = self.entry.indent + 2 * STEP
        column = plain
        if self.entry.kind is Kind.RULE:
            column = self.aligned.get(2, plain)
        elif self.entry.kind is Kind.FEATURE:
            sign = find(self.entry.words, "=", "~")
            column = plain if sign is None else self.aligned.get(sign, plain - 2) + 2
        return column if column <= LIMIT else plain

    def kept(self, index: int, base: int) -> int:
        """In line with the same word as before, else as far from the row above as before."""
        origins = self.entry.origins
        for bracket in reversed(self.open):
            if origins[index] in bracket.seen:
                return bracket.seen[origins[index]]
        first = self.entry.rows[1].first
        if first == index:
            return base
        return max(base, self.columns[first] + origins[index] - origins[first])
