"""Grammar text in, parser tables out: read from the shipped file, or built by lark.

    python -m gnarl_dsl.syntax.tables          writes _grammar_tables.py

lark takes 0.2 s to analyse the grammar, so its result is shipped as a Python literal.
The file is used as long as it was made from the grammar at hand; the tables are plain
data, so it does not matter which lark is installed, or whether one is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnarl_dsl.syntax.lalr import END, Piece, Rule, Tables

if TYPE_CHECKING:
    from lark import Lark
    from lark import grammar as larks

START = "block"
Row = dict[str, int]
_FOLDER = Path(__file__).parent
SHIPPED_FILE = _FOLDER / "_grammar_tables.py"


def read_grammar() -> str:
    return (_FOLDER / "grammar.lark").read_text("utf-8")


def grammar_hash(grammar: str) -> str:
    return blake2b(grammar.encode(), digest_size=16).hexdigest()


def load_tables(grammar: str) -> Tables:
    """The shipped tables if they belong to this grammar, else freshly built ones."""
    return shipped_tables(grammar) or build_tables(grammar)


def shipped_tables(grammar: str) -> Tables | None:
    try:
        from gnarl_dsl.syntax import _grammar_tables as shipped
    except ImportError:
        return None
    if grammar_hash(grammar) != shipped.GRAMMAR:
        return None
    return Tables(
        words=dict(line.split() for line in shipped.WORDS.splitlines()),
        rules=tuple(map(_parse_rule, shipped.RULES.splitlines())),
        actions=tuple(map(_row, shipped.ACTIONS.splitlines())),
        gotos=tuple(map(_row, shipped.GOTOS.splitlines())),
    )


# Building: lark reads the grammar and computes the LALR(1) automaton.


def build_tables(grammar: str) -> Tables:
    analysed = analyse_grammar(grammar)
    words = {t.pattern.value: t.name for t in analysed.terminals if t.pattern is not None}
    rules = tuple(map(_rule, analysed.rules))
    return Tables(words, rules, *_automaton(analysed))


def analyse_grammar(grammar: str, **options: Any) -> Lark:
    from lark import Lark

    return Lark(
        grammar,
        parser="lalr",
        start=START,
        keep_all_tokens=True,
        maybe_placeholders=True,
        **options,
    )


def _rule(rule: larks.Rule) -> Rule:
    name = str(rule.alias or rule.origin.name)
    single = bool(rule.options.expand1) and not rule.alias
    pieces = tuple(_pieces(rule))
    silent = name.startswith("_") or (single and len(pieces) == 1)
    arranged = pieces if pieces != tuple(range(len(rule.expansion))) else None
    return Rule(
        str(rule.origin.name), len(rule.expansion), "" if silent else name, single, arranged
    )


def _pieces(rule: larks.Rule) -> Iterator[Piece]:
    """lark marks absent `[optional]` parts, and names what is to be spliced in with `_`."""
    place = 0
    for absent in rule.options.empty_indices or [False] * len(rule.expansion):
        if absent:
            yield None
            continue
        symbol = rule.expansion[place]
        spliced = not symbol.is_term and symbol.name.startswith("_")
        yield (place,) if spliced else place
        place += 1


def _automaton(analysed: Lark) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """Actions and gotos per state, numbered from the start outwards: the same on every run."""
    table: Any = analysed.parser.parser._parse_table
    reductions = {rule: ~number for number, rule in enumerate(analysed.rules)}
    numbers = {table.start_states[START]: 0}
    rows: list[Row] = []
    reached = list(numbers)
    for state in reached:  # grows as it goes
        rows.append({END: 0} if state == table.end_states[START] else {})
        for symbol, (_, target) in sorted(table.states[state].items()):
            if target not in reductions and target not in numbers:
                numbers[target] = len(reached)
                reached.append(target)
            rows[-1][symbol] = reductions[target] if target in reductions else numbers[target]
    origins = {rule.origin.name for rule in analysed.rules}
    actions = tuple({s: n for s, n in row.items() if s not in origins} for row in rows)
    gotos = tuple({s: n for s, n in row.items() if s in origins} for row in rows)
    return actions, gotos


# The shipped file: plain text in string literals, as quick to compile as to load.


def tables_text(grammar: str) -> str:
    """The Python file that is shipped, with one line per word, rule and state."""
    from lark import __version__

    tables = build_tables(grammar)
    return _FILE.format(
        hash=grammar_hash(grammar),
        lark=__version__,
        words=_lines(tables.words.items()),
        rules=_lines(map(_rule_text, tables.rules)),
        actions=_lines(_flat(row) for row in tables.actions),
        gotos=_lines(_flat(row) for row in tables.gotos),
    )


_FILE = '''"""The parser's tables. Made from grammar.lark by `python -m gnarl_dsl.syntax.tables`."""

# fmt: off
# ruff: noqa: E501
GRAMMAR = "{hash}"
LARK = "{lark}"

# text, terminal
WORDS = """\\
{words}
"""

# origin, size, builder, single, pieces
RULES = """\\
{rules}
"""

# per state: terminal, next state (or rule to reduce, negative)
ACTIONS = """\\
{actions}
"""

# per state: rule, next state
GOTOS = """\\
{gotos}
"""
'''


def _lines(rows: Iterable[Iterable[object]]) -> str:
    return "\n".join(" ".join(map(str, row)) for row in rows)


def _flat(row: Mapping[str, int]) -> Iterator[object]:
    for item in row.items():
        yield from item


def _row(line: str) -> Row:
    parts = line.split()
    return dict(zip(parts[::2], map(int, parts[1::2]), strict=True))


def _rule_text(rule: Rule) -> Iterator[object]:
    yield from (rule.origin, rule.size, rule.builder or _NONE, int(rule.single))
    yield from [_NONE] if rule.pieces is None else map(_piece_text, rule.pieces)


def _piece_text(piece: Piece) -> str:
    match piece:
        case None:
            return _GAP
        case (place,):
            return f"{place}{_SPLICE}"
    return str(piece)


def _parse_rule(line: str) -> Rule:
    origin, size, builder, single, *pieces = line.split()
    arranged = None if pieces == [_NONE] else tuple(map(_parse_piece, pieces))
    return Rule(origin, int(size), builder.strip(_NONE), single == "1", arranged)


def _parse_piece(text: str) -> Piece:
    if text == _GAP:
        return None
    return (int(text[:-1]),) if text.endswith(_SPLICE) else int(text)


_NONE, _GAP, _SPLICE = "-", "_", "*"


def main() -> None:
    SHIPPED_FILE.write_text(tables_text(read_grammar()), "utf-8")
    print(f"wrote {SHIPPED_FILE}")


if __name__ == "__main__":
    main()
