"""Declarations: blocks of the syntax tree in, tables of names out, before any formula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from gnarl_dsl import model
from gnarl_dsl.check.context import Declarations
from gnarl_dsl.check.feature_lines import declare_feature
from gnarl_dsl.check.header import all_of, first_of
from gnarl_dsl.check.hints import FOREIGN_GRAPHS
from gnarl_dsl.check.outside.extern_lines import check_extern
from gnarl_dsl.language import registered
from gnarl_dsl.language.words import GRAPH_WORDS, RESERVED
from gnarl_dsl.report.diagnostics import Note
from gnarl_dsl.report.source import Span
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.syntax import ast

MAX_NUMBER = 1e30
MAX_PHASES = MAX_PARAMETERS = 16
_SINGLE = (
    ast.GraphDecl,
    ast.Horizon,
    ast.Limit,
    ast.Terminate,
    ast.Stop,
    ast.Valid,
    ast.Correct,
)


def declare_names(
    names: Declarations, blocks: tuple[ast.Block, ...], overrides: Mapping[str, str]
) -> None:
    """Read names and shapes; report what is doubled, missing or misspelt."""
    _report_repeated_clauses(names, blocks)
    graph = first_of(blocks, ast.GraphDecl)
    if graph is not None:
        names.graph = _graph(names, graph)
    for block in blocks:  # lines of features may name them, wherever they stand
        if isinstance(block, ast.Extern) and _fresh(names, block.name, "extern"):
            _extern(names, block)
    for block in blocks:
        _block(names, block, overrides)
    _report_unknown_overrides(names, blocks, overrides)


def _block(names: Declarations, block: ast.Block, overrides: Mapping[str, str]) -> None:
    match block:
        case ast.Param():
            if _fresh(names, block.name, "param"):
                _param(names, block, overrides)
        case ast.Features():
            for feature in block.features:
                if _fresh(names, feature.name, "feature"):
                    declare_feature(names, feature)
        case ast.Let():
            if _fresh(names, block.name, "let"):
                _let(names, block)
        case ast.Phase():
            if _fresh_phase(names, block):
                names.phases[block.name.text] = block
        case ast.Objective():
            if _fresh(names, block.name, "objective"):
                names.objectives[block.name.text] = block
        case ast.Correct():
            names.correct = block
        case ast.Valid():
            names.valid = block
        case ast.Version() | ast.ProblemHead() | ast.GraphDecl() | ast.Drop() | ast.Extern():
            pass
        case ast.Horizon() | ast.Limit() | ast.Terminate() | ast.Stop():
            pass  # nothing that a formula could name
        case ast.Reward() | ast.Metric() | ast.Expert() | ast.MadeExpert() | ast.Instances():
            pass
        case ast.Observe() | ast.Messages():
            pass
        case _:
            assert_never(block)


def _extern(names: Declarations, tree: ast.Extern) -> None:
    if len(tree.params) > MAX_PARAMETERS:
        _too_many(names, tree.params[MAX_PARAMETERS].span, "An extern", "parameters")
        names.lose(tree.name.text)
        return
    extern = check_extern(names, tree)
    if extern is None:
        names.lose(tree.name.text)
        return
    builtin = {"source": registered.SOURCES, "generator": registered.GENERATORS}
    if tree.name.text in builtin.get(extern.kind, {}):
        names.found.add("GN115", tree.name.span, name=tree.name.text, what=extern.kind)
        return
    names.externs[tree.name.text] = extern
    names.extern_trees[tree.name.text] = tree


def _let(names: Declarations, tree: ast.Let) -> None:
    if len(tree.params) > MAX_PARAMETERS:
        _too_many(names, tree.params[MAX_PARAMETERS].span, "A let", "parameters")
        names.lose(tree.name.text)
        return
    names.lets[tree.name.text] = tree


def _too_many(names: Declarations, span: Span, what: str, things: str) -> None:
    names.found.add("GN138", span, what=what, limit=MAX_PARAMETERS, things=things)


# Names


def _fresh(names: Declarations, name: ast.Ident, what: str) -> bool:
    """Whether a name can be declared: not built in, not taken."""
    if name.text in RESERVED:
        names.found.add("GN115", name.span, name=name.text, what=what)
        return False
    return is_first_of(names, "name", name)


def is_first_of(names: Declarations, kind: str, name: ast.Ident) -> bool:
    """Whether no other of its kind has the name; all that formulas can name are one kind."""
    key = (kind, name.text)
    if key in names.first:
        note = Note(names.first[key], "it is first declared here")
        names.found.add("GN101", name.span, name=name.text, kind=kind, notes=[note])
        return False
    names.first[key] = name.span
    return True


def _fresh_phase(names: Declarations, phase: ast.Phase) -> bool:
    variable = phase.variable
    if len(names.phases) == MAX_PHASES:
        if "phase" not in names.lost_blocks:
            _too_many(names, phase.name.span, "A problem", "phases")
        names.lost_blocks |= {"phase"}
        names.lose(variable.text)
        return False
    fresh = is_first_of(names, "phase", phase.name)
    if variable.text in RESERVED:
        names.found.add("GN115", variable.span, name=variable.text, what="phase variable")
    is_first_of(names, "phase variable", variable)
    return fresh


def verify_unlike_objectives(names: Declarations, name: ast.Ident) -> None:
    """Rewards and objectives are chosen by name alike, so they share one set of names."""
    if name.text in names.objectives:
        note = Note(names.objectives[name.text].name.span, "the objective is here")
        names.found.add("GN101", name.span, name=name.text, kind="objective", notes=[note])


def _report_repeated_clauses(names: Declarations, blocks: tuple[ast.Block, ...]) -> None:
    seen: dict[type, Span] = {}
    for block in blocks:
        if not isinstance(block, _SINGLE):
            continue
        if type(block) in seen:
            note = Note(seen[type(block)], "the first one is here")
            word = clause_word(block)
            names.found.add("GN124", block.span, word=word, notes=[note])
        seen.setdefault(type(block), block.span)


# Graph and parameters


def _graph(names: Declarations, tree: ast.GraphDecl) -> model.GraphKind:
    words = [word.text for word in tree.attributes]
    for word in tree.attributes:
        if word.text not in GRAPH_WORDS:
            fix = did_you_mean(word.text, GRAPH_WORDS)
            fix = fix or FOREIGN_GRAPHS.get(word.text)
            expected = ", ".join(GRAPH_WORDS)
            names.found.add("GN111", word.span, name=word.text, expected=expected, fix=fix)
    if ("directed" in words) == ("undirected" in words):
        known = [word for word in words if word in GRAPH_WORDS]
        if known == words or "directed" in words:
            fix = "Keep one of the two." if "directed" in words else None
            names.found.add("GN112", tree.span, fix=fix)
    flags: dict[str, Any] = {word: word in words for word in GRAPH_WORDS if word != "undirected"}
    _contradictions(names, tree, words)
    return model.GraphKind.model_construct(**flags)


def _contradictions(names: Declarations, tree: ast.GraphDecl, words: list[str]) -> None:
    for one, other in (("complete", "mutable"), ("complete", "acyclic")):
        if one in words and other in words:
            names.found.add("GN126", tree.span, one=one, other=other)


def _param(names: Declarations, tree: ast.Param, overrides: Mapping[str, str]) -> None:
    name = tree.name.text
    choices = tuple(choice.text for choice in tree.choices)
    default = _param_default(names, tree, choices)
    if default is None:
        names.lose(name)
        return
    value = default
    if name in overrides:
        value = _override(names, tree, choices, overrides[name], default)
    names.param_trees[name] = tree
    unit = tree.unit.text if tree.unit is not None else ""
    names.params[name] = model.Param.model_construct(
        name=name, choices=choices, default=default, value=value, doc=tree.doc, unit=unit
    )


def _param_default(
    names: Declarations, tree: ast.Param, choices: tuple[str, ...]
) -> float | str | None:
    default = tree.default
    if choices:
        if isinstance(default, ast.Name) and default.text in choices:
            return default.text
        given = default.text if isinstance(default, ast.Name) else ""
        _bad_default(names, tree, f"one of {' | '.join(choices)}", did_you_mean(given, choices))
        return choices[0]
    sign = 1.0
    if isinstance(default, ast.Unary) and default.op == "-":
        sign, default = -1.0, default.operand
    if isinstance(default, ast.Number):
        if abs(default.value) <= MAX_NUMBER:
            return sign * default.value
        names.found.add("GN020", tree.default.span, limit=f"{MAX_NUMBER:g}")
        return None
    if isinstance(default, ast.Name):
        form = f"param {tree.name.text} : {default.text} | … = {default.text}"
        fix = f"For a choice of words, list them: `{form}`."
    else:
        fix = "Name a formula with `let`; a param is a plain number."
    _bad_default(names, tree, "a number", fix)
    return None


def _bad_default(names: Declarations, tree: ast.Param, expected: str, fix: str | None) -> None:
    span = tree.default.span
    names.found.add("GN113", span, name=tree.name.text, expected=expected, fix=fix)


def _override(
    names: Declarations, tree: ast.Param, choices: tuple[str, ...], given: str, default: float | str
) -> float | str:
    if choices and given in choices:
        return given
    if not choices:
        try:
            value = float(given)
        except ValueError:
            value = float("nan")
        if abs(value) <= MAX_NUMBER:
            return value
    names.found.add(
        "GN114",
        tree.span,
        name=tree.name.text,
        given=given[:60],
        expected=" | ".join(choices) or "a number",
        default=default if choices else f"{default:g}",
        fix=did_you_mean(given, choices),
    )
    return default


def _report_unknown_overrides(
    names: Declarations, blocks: tuple[ast.Block, ...], overrides: Mapping[str, str]
) -> None:
    if "param" in names.lost_blocks:
        return
    declared = [param.name.text for param in all_of(blocks, ast.Param)]
    head = first_of(blocks, ast.ProblemHead)
    span = head.span if head else Span(0, 0)
    for name in overrides:
        if name not in declared:
            expected, fix = ", ".join(declared) or "none", did_you_mean(name, declared)
            names.found.add("GN127", span, name=name[:60], expected=expected, fix=fix)


def clause_word(block: ast.Block) -> str:
    """The keyword that starts a block."""
    words = {"GraphDecl": "graph", "ProblemHead": "problem", "Version": "gnarl", "Stop": "may stop"}
    return words.get(type(block).__name__, type(block).__name__.lower())
