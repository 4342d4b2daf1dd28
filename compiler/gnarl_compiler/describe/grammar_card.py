"""The words of the language in, the whole of it on one page out: docs/grammar_card.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gnarl_dsl.editing import vocabulary
from gnarl_dsl.editing.vocabulary import Group
from gnarl_dsl.language.registered import FUNCTIONS, GENERATORS, SOURCES

_HEAD = """\
# The language on one page

For those who know what a spec is and forget how something is written; [the manual](language.md)
has every construct with an example. Blocks start at the left margin, what belongs to them is
indented by two spaces, a deeper line continues the one above it, `#` starts a comment.

```gnarl
gnarl 1
problem mvc
  "Minimum weight vertex cover, one node per step."

param eps = 0.1  "of the approximation"
graph undirected

features
  w         input   node  scalar  ~ uniform(0, 1)  "node weight"
  in_cover  state   node  mask    = false
  approx    oracle  node  mask    = vertex_cover_primal_dual(w, eps)

let open(x) = exists y in neighbors(x): not in_cover[x] and not in_cover[y]

phase add(v)
  allow not in_cover[v]
  update
    in_cover[v] := true

horizon n rounds
terminate when forall x in nodes: not open(x)
valid          forall x in nodes: not open(x)
objective cover = -sum(x in nodes where in_cover[x]: w[x])
metric ratio    = -cover / sum(x in nodes where approx[x]: w[x])

expert approximation
  add: uniform v where approx[v] else uniform v where open(v)
expert cheapest = greedy cover

instances ba
  train 1000  ba(n = {8..16}, m = {1..10})
  valid  100  ba(n = 16, m = {1..10})
  test   100  ba(n = {16, 64}, m = {1..10})
```

What surprises: an oracle may be read by experts, metrics, rewards and `correct` only. Nodes have no
numbers. A feature's cell is `w[x]`, of edges and pairs `A[x, y]`. `last(phase)` may be unset:
`last(add) otherwise s`. A loop in an update is parallel. `~=` compares numbers within 1e-6. A spec
needs an `objective` or a `correct`. A step costs at most O(n^3).

<!-- Written by `python -m gnarl_runtime.commands.reference docs` from tables of the language. -->
"""


def card_page() -> str:
    return "\n".join([_HEAD, *_parts()])


def _parts() -> Iterator[str]:
    yield _words("Blocks", vocabulary.GROUPS[Group.BLOCK], vocabulary.WINDOWS, vocabulary.STOP)
    yield (
        "## A feature line\n\n"
        "`name  stage  location  type  = formula` for what picks change or what follows, "
        "`~ source` for what is drawn.\n"
    )
    yield _table("stage", vocabulary.STAGES)
    yield _table("location", vocabulary.PLACES)
    yield _table("type", vocabulary.TYPES)
    yield _words("Within blocks", vocabulary.GROUPS[Group.CLAUSE], vocabulary.GRAPH_WORDS)
    yield _words("Experts that are made", vocabulary.EXPERT_WAYS)
    yield _words("Kinds of rewards", vocabulary.REWARD_KINDS)
    formulas = (Group.CONTROL, Group.LOGIC, Group.FOLD, Group.CONSTANT)
    yield _words("In formulas and updates", *(vocabulary.GROUPS[group] for group in formulas))
    yield "`+ - * /`, `== != < <= > >= ~=`; `A := B` in an update.\n"
    yield _words("Names that formulas know", dict(vocabulary.FORMULA_NAMES.values()))
    yield _words("Sources", {own.called(name): f"{own.doc}." for name, own in SOURCES.items()})
    families = {
        " | ".join(f"{name}({', '.join(['n', *form])})" for form in own.forms): f"{own.doc}."
        for name, own in GENERATORS.items()
    }
    yield _words("Families of graphs", families)
    yield (
        "An argument is a number, one of several `{8, 16}` or `{1..4}`, or drawn from a range "
        "`[0.1, 0.5]`.\n"
    )
    named = ", ".join(f"`{name}`" for name in FUNCTIONS)
    told = "for oracles, [each with its form](language.md#registered-functions)"
    yield f"## Registered algorithms\n\n{named}: {told}.\n"


def _words(title: str, *known: Mapping[str, str]) -> str:
    entries = {name: doc for own in known for name, doc in own.items()}
    return f"## {title}\n\n{_table('', entries)}"


def _table(head: str, entries: Mapping[str, str]) -> str:
    rows = [f"| `{_cell(name)}` | {_cell(doc)} |" for name, doc in entries.items()]
    return "\n".join([f"| {head} | |", "|---|---|", *rows]) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
