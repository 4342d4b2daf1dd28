"""Declarations: blocks of the syntax tree in, tables of names out, before any formula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gnarl_dsl import model
from gnarl_dsl.check.environment import Declarations
from gnarl_dsl.check.feature_lines import FeatureReader
from gnarl_dsl.check.hints import FOREIGN_GRAPHS
from gnarl_dsl.language import builtins
from gnarl_dsl.language.builtins import RESERVED
from gnarl_dsl.report.diagnostics import Collector, Note
from gnarl_dsl.report.source import Span
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.syntax import ast

MAX_NUMBER = 1e30
MAX_PHASES = MAX_PARAMETERS = 16
_SINGLE = (ast.GraphDecl, ast.Horizon, ast.Limit, ast.Terminate, ast.Valid, ast.Correct)


class Declarer:
    """Reads names and shapes; reports what is doubled, missing or misspelt."""

    def __init__(self, blocks: tuple[ast.Block, ...], found: Collector) -> None:
        self.blocks = blocks
        self.found = found
        self.names = Declarations(found)
        self.features = FeatureReader(self.names)
        self._declared: dict[str, Span] = {}

    def declare(self, overrides: Mapping[str, str]) -> Declarations:
        self._report_repeated_clauses()
        self._graph()
        for block in self.blocks:
            self._block(block, overrides)
        self._unknown_overrides(overrides)
        return self.names

    def _block(self, block: ast.Block, overrides: Mapping[str, str]) -> None:
        match block:
            case ast.Param():
                self._param(block, overrides)
            case ast.Features():
                for feature in block.features:
                    if self._fresh(feature.name, "feature"):
                        self.features.read(feature)
            case ast.Let() if self._fresh(block.name, "let"):
                self._let(block)
            case ast.Phase() if self._fresh_phase(block):
                self.names.phases[block.name.text] = block
            case ast.Objective() if self._fresh(block.name, "objective"):
                self.names.objectives[block.name.text] = block
            case ast.Correct():
                self.names.correct = block
            case ast.Valid():
                self.names.valid = block
            case _:
                pass

    def _let(self, tree: ast.Let) -> None:
        if len(tree.params) > MAX_PARAMETERS:
            self._too_many(tree.params[MAX_PARAMETERS].span, "A let", "parameters")
            self.names.lose(tree.name.text)
            return
        self.names.lets[tree.name.text] = tree

    def _too_many(self, span: Span, what: str, things: str) -> None:
        self.found.add("GN138", span, what=what, limit=MAX_PARAMETERS, things=things)

    # Names

    def _fresh(self, name: ast.Ident, what: str) -> bool:
        """Whether a name can be declared: not built in, not taken."""
        if name.text in RESERVED:
            self.found.add("GN115", name.span, name=name.text, what=what)
            return False
        return self._first(name.text, name, "name")

    def _first(self, key: str, name: ast.Ident, kind: str) -> bool:
        if key in self._declared:
            note = Note(self._declared[key], "it is first declared here")
            self.found.add("GN101", name.span, name=name.text, kind=kind, notes=[note])
            return False
        self._declared[key] = name.span
        return True

    def _fresh_phase(self, phase: ast.Phase) -> bool:
        variable = phase.variable
        if len(self.names.phases) == MAX_PHASES:
            if "phase" not in self.names.lost_blocks:
                self._too_many(phase.name.span, "A problem", "phases")
            self.names.lost_blocks |= {"phase"}
            self.names.lose(variable.text)
            return False
        fresh = self._first(f"phase {phase.name.text}", phase.name, "phase")
        if variable.text in RESERVED:
            self.found.add("GN115", variable.span, name=variable.text, what="phase variable")
        self._first(f"variable {variable.text}", variable, "phase variable")
        return fresh

    def unlike_objectives(self, name: ast.Ident) -> None:
        """Rewards and objectives are chosen by name alike, so they share one set of names."""
        if name.text in self.names.objectives:
            note = Note(self.names.objectives[name.text].name.span, "the objective is here")
            self.found.add("GN101", name.span, name=name.text, kind="objective", notes=[note])

    def named(self, kind: str, name: ast.Ident) -> bool:
        """Whether a reward, metric, expert or instance set is the first of its name."""
        return self._first(f"{kind} {name.text}", name, kind)

    def _report_repeated_clauses(self) -> None:
        seen: dict[type, Span] = {}
        for block in self.blocks:
            if not isinstance(block, _SINGLE):
                continue
            if type(block) in seen:
                note = Note(seen[type(block)], "the first one is here")
                word = clause_word(block)
                self.found.add("GN124", block.span, word=word, notes=[note])
            seen.setdefault(type(block), block.span)

    # Graph and parameters

    def _graph(self) -> None:
        tree = next((b for b in self.blocks if isinstance(b, ast.GraphDecl)), None)
        if tree is None:
            return
        words = [word.text for word in tree.attributes]
        for word in tree.attributes:
            if word.text not in builtins.GRAPH_WORDS:
                fix = did_you_mean(word.text, builtins.GRAPH_WORDS)
                fix = fix or FOREIGN_GRAPHS.get(word.text)
                expected = ", ".join(builtins.GRAPH_WORDS)
                self.found.add("GN111", word.span, name=word.text, expected=expected, fix=fix)
        if ("directed" in words) == ("undirected" in words):
            known = [word for word in words if word in builtins.GRAPH_WORDS]
            if known == words or "directed" in words:
                fix = "Keep one of the two." if "directed" in words else None
                self.found.add("GN112", tree.span, fix=fix)
        flags: dict[str, Any] = {
            word: word in words for word in builtins.GRAPH_WORDS if word != "undirected"
        }
        self._contradictions(tree, words)
        self.names.graph = model.GraphKind.model_construct(**flags)

    def _contradictions(self, tree: ast.GraphDecl, words: list[str]) -> None:
        for one, other in (("complete", "mutable"), ("complete", "acyclic")):
            if one in words and other in words:
                self.found.add("GN126", tree.span, one=one, other=other)

    def _param(self, tree: ast.Param, overrides: Mapping[str, str]) -> None:
        name = tree.name.text
        if not self._fresh(tree.name, "param"):
            return
        choices = tuple(choice.text for choice in tree.choices)
        default = self._param_default(tree, choices)
        if default is None:
            self.names.lose(name)
            return
        value = default
        if name in overrides:
            value = self._override(tree, choices, overrides[name], default)
        self.names.param_trees[name] = tree
        self.names.params[name] = model.Param.model_construct(
            name=name, choices=choices, default=default, value=value, doc=tree.doc
        )

    def _param_default(self, tree: ast.Param, choices: tuple[str, ...]) -> float | str | None:
        default = tree.default
        if choices:
            if isinstance(default, ast.Name) and default.text in choices:
                return default.text
            given = default.text if isinstance(default, ast.Name) else ""
            self._bad_default(tree, f"one of {' | '.join(choices)}", did_you_mean(given, choices))
            return choices[0]
        sign = 1.0
        if isinstance(default, ast.Unary) and default.op == "-":
            sign, default = -1.0, default.operand
        if isinstance(default, ast.Number):
            if abs(default.value) <= MAX_NUMBER:
                return sign * default.value
            self.found.add("GN020", tree.default.span, limit=f"{MAX_NUMBER:g}")
            return None
        if isinstance(default, ast.Name):
            form = f"param {tree.name.text} : {default.text} | … = {default.text}"
            fix = f"For a choice of words, list them: `{form}`."
        else:
            fix = "Name a formula with `let`; a param is a plain number."
        self._bad_default(tree, "a number", fix)
        return None

    def _bad_default(self, tree: ast.Param, expected: str, fix: str | None) -> None:
        span = tree.default.span
        self.found.add("GN113", span, name=tree.name.text, expected=expected, fix=fix)

    def _override(
        self, tree: ast.Param, choices: tuple[str, ...], given: str, default: float | str
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
        self.found.add(
            "GN114",
            tree.span,
            name=tree.name.text,
            given=given[:60],
            expected=" | ".join(choices) or "a number",
            default=default if choices else f"{default:g}",
            fix=did_you_mean(given, choices),
        )
        return default

    def _unknown_overrides(self, overrides: Mapping[str, str]) -> None:
        declared = [block.name.text for block in self.blocks if isinstance(block, ast.Param)]
        if "param" in self.names.lost_blocks:
            return
        for name in overrides:
            if name not in declared:
                head = next((b for b in self.blocks if isinstance(b, ast.ProblemHead)), None)
                span = head.span if head else Span(0, 0)
                expected = ", ".join(declared) or "none"
                fix = did_you_mean(name, declared)
                self.found.add("GN127", span, name=name[:60], expected=expected, fix=fix)


def clause_word(block: ast.Block) -> str:
    """The keyword that starts a block."""
    words = {"GraphDecl": "graph", "ProblemHead": "problem", "Version": "gnarl"}
    return words.get(type(block).__name__, type(block).__name__.lower())
