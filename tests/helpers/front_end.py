"""Helpers for front-end tests: a small good spec, and short ways to change and check it."""

from __future__ import annotations

from collections.abc import Mapping
from time import process_time

from gnarl_dsl.loading import Checked, check_text
from gnarl_dsl.model import Problem
from gnarl_dsl.report.render import render_all

GOOD = """\
gnarl 1
problem lights
  "Switch every node on."

graph undirected

features
  s     input   node     mask_one  ~ any_node
  w     input   node     scalar    ~ uniform(0, 1)
  A     input   edge     scalar    ~ clrs_weight
  on    state   node(x)  mask      = s[x]
  d     state   node     scalar    = 0
  pred  state   node(x)  pointer   = x
  best  oracle  node     mask      = min_vertex_cover(w)

let lit(x) = on[x] or x == s

phase from(u)
  allow lit(u)
phase to(v)
  allow edge(u, v)
  update
    on[v]   := true
    d[v]    := d[u] + A[u, v]
    pred[v] := u

horizon n rounds
correct forall x in nodes: on[x] or not best[x]
"""


def spec(old: str = "", new: str = "", *, add: str = "") -> str:
    """GOOD with one piece replaced and something added at the end."""
    assert old in GOOD, old
    return GOOD.replace(old, new, 1) + add


def update(*lines: str) -> str:
    """GOOD with other statements in its update."""
    start = GOOD.index("    on[v]   := true")
    end = GOOD.index("\nhorizon")
    body = "".join(f"    {line}\n" for line in lines)
    return GOOD[:start] + body + GOOD[end:]


def codes(text: str, params: Mapping[str, str] | None = None) -> list[str]:
    return [finding.code for finding in check_text(text, params=params).diagnostics]


def errors(text: str) -> list[str]:
    return [finding.code for finding in check_text(text).diagnostics if finding.is_error]


def problem_of(text: str, params: Mapping[str, str] | None = None) -> Problem:
    checked = check_text(text, params=params)
    assert checked.problem is not None, render_all(checked.diagnostics, checked.sources)
    return checked.problem


def text_of(checked: Checked) -> str:
    return render_all(checked.diagnostics, checked.sources)


def timed_check(text: str) -> tuple[Checked, float]:
    """The result and the seconds of processor time it took, rendering included."""
    start = process_time()
    checked = check_text(text)
    render_all(checked.diagnostics, checked.sources)
    return checked, process_time() - start
