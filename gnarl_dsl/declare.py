"""Declarations: blocks of the syntax tree in, tables of names out, before any formula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from gnarl_dsl import ast, builtins, model
from gnarl_dsl.builtins import PLACES, RESERVED
from gnarl_dsl.diagnostics import Collector, Note
from gnarl_dsl.environment import Declarations, FeatureInfo
from gnarl_dsl.scope import did_you_mean
from gnarl_dsl.source import Span

MAX_NUMBER = 1e30
MAX_PHASES = MAX_PARAMETERS = 16
_SINGLE = (ast.GraphDecl, ast.Horizon, ast.Limit, ast.Terminate, ast.Valid, ast.Correct)


class Declarer:
    """Reads names and shapes; reports what is doubled, missing or misspelt."""

    def __init__(self, blocks: tuple[ast.Block, ...], found: Collector) -> None:
        self.blocks = blocks
        self.found = found
        self.names = Declarations(found)
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
                    self._feature(feature)
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
            self._poison_name(tree.name.text)
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
            self._poison_name(variable.text)
            return False
        fresh = self._first(f"phase {phase.name.text}", phase.name, "phase")
        if variable.text in RESERVED:
            self.found.add("GN115", variable.span, name=variable.text, what="phase variable")
        self._first(f"variable {variable.text}", variable, "phase variable")
        return fresh

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
                fix = fix or _FOREIGN_GRAPHS.get(word.text)
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
            self._poison_name(name)
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
            word = default.text
            fix = f"For a choice of words, list them: `param {tree.name.text} : {word} | … = {word}`."
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

    # Features

    def _feature(self, tree: ast.Feature) -> None:
        if not self._fresh(tree.name, "feature"):
            return
        if len(tree.columns) != 3 or self._in_wrong_order(tree):
            found = " ".join(column.name.text for column in tree.columns) or "nothing"
            fix = self._columns_fix(tree)
            self.found.add("GN103", tree.span, name=tree.name.text, found=found, fix=fix)
            self._poison_name(tree.name.text)
            return
        stage = self._word(tree.columns[0], builtins.STAGES, "GN104")
        place = self._word(tree.columns[1], tuple(PLACES), "GN105")
        kind = self._word(tree.columns[2], builtins.TYPES, "GN106")
        if stage is None or place is None or kind is None:
            self._poison_name(tree.name.text)
            return
        info = FeatureInfo(
            tree,
            cast(model.Stage, stage),
            cast(model.Place, place),
            cast(model.FeatureType, kind),
            self._position(tree.columns[1], place),
            *self._categories(tree.columns[2], kind),
        )
        self.names.features[tree.name.text] = info
        self._feature_shape(info)

    def _in_wrong_order(self, tree: ast.Feature) -> bool:
        """Whether the three columns are all there, but not in their places."""
        known = (builtins.STAGES, tuple(PLACES), builtins.TYPES)
        words = [column.name.text for column in tree.columns]
        each_once = all(sum(word in group for word in words) == 1 for group in known)
        return each_once and not all(w in group for w, group in zip(words, known, strict=True))

    def _columns_fix(self, tree: ast.Feature) -> str:
        """The line with its gaps filled, so that it can be copied."""
        words = [column.name.text for column in tree.columns]

        def pick(known: tuple[str, ...], default: str) -> str:
            return next((word for word in words if word in known), default)

        stage = pick(builtins.STAGES, "state")
        columns = (stage, pick(tuple(PLACES), "node"), pick(builtins.TYPES, "scalar"))
        return f"Write `{tree.name.text}  {'  '.join(columns)}  …`."

    def _poison_name(self, name: str) -> None:
        self.names.lost_names |= {name}

    def _word(self, column: ast.Column, known: tuple[str, ...], code: str) -> str | None:
        word = column.name.text
        if word in known:
            return word
        fix = did_you_mean(word, known) or _column_fix(word, code)
        self.found.add(code, column.name.span, name=word, expected=", ".join(known), fix=fix)
        return None

    def _position(self, column: ast.Column, place: str) -> tuple[ast.Ident, ...]:
        names = {arg.text: arg for arg in column.args if isinstance(arg, ast.Ident)}
        if column.args and len(names) != PLACES[place]:
            form, why = _POSITIONS[place]
            self.found.add("GN107", column.span, form=form, why=why)
        return tuple(names.values())

    def _categories(self, column: ast.Column, kind: str) -> tuple[int, tuple[str, ...]]:
        names = tuple(arg.text for arg in column.args if isinstance(arg, ast.Ident))
        if kind != "categorical":
            if column.args:
                self.found.add("GN128", column.span, name=kind)
            return 0, ()
        if len(names) >= 2 and len(names) == len(column.args) and len(set(names)) == len(names):
            return len(names), names
        count = column.args[0] if len(column.args) == 1 else None
        if isinstance(count, ast.Number) and count.value.is_integer() and 2 <= count.value <= 1000:
            return int(count.value), ()
        self.found.add("GN123", column.span)
        return 2, ()

    def _feature_shape(self, info: FeatureInfo) -> None:
        """Places, types and right-hand sides that do not go together."""
        tree, column = info.tree, info.tree.columns[2]
        if info.type == "mask_one" and info.place != "node":
            self._misplaced(info, "nodes", "It marks one of all nodes: write `node`.")
        elif info.type == "mask_one" and info.vars:
            # One node is marked, so the formula is for all of them, not for each.
            why = "one node of all is marked, so what stands after `=` is that node"
            self.found.add("GN107", tree.columns[1].span, form="node", why=why)
        if info.type == "pointer" and info.place not in ("node", "graph"):
            self._misplaced(info, "nodes or the graph", None)
        self._right_hand_side(info)
        graph = self.names.graph
        if graph and graph.mutable and info.place == "edge" and info.stage != "derived":
            self.found.add("GN125", tree.span, name=tree.name.text)

    def _misplaced(self, info: FeatureInfo, where: str, fix: str | None) -> None:
        place = "the graph" if info.place == "graph" else f"{info.place}s"
        span = info.tree.columns[1].span.to(info.tree.columns[2].span)
        self.found.add("GN108", span, type=info.type, place=place, where=where, fix=fix)

    def _right_hand_side(self, info: FeatureInfo) -> None:
        tree = info.tree
        name = tree.name.text
        if info.stage == "input":
            if tree.source is None:
                if tree.value is None:
                    self._no_value(info, f"~ {_usual_source(info)}")
            else:
                self._check_source(info, tree.source)
        elif tree.source is not None:
            span = tree.source.span
            self.found.add("GN129", span, name=name, stage=info.stage)
        elif tree.value is None and info.stage != "oracle":
            self._no_value(info, f"= {_usual_value(info)}")

    def _no_value(self, info: FeatureInfo, ending: str) -> None:
        tree = info.tree
        columns = "  ".join(column.name.text for column in tree.columns)
        form = f"{tree.name.text}  {columns}  {ending}"
        self.found.add("GN109", tree.span, name=tree.name.text, stage=info.stage, form=form)

    def _check_source(self, info: FeatureInfo, source: ast.SourceOf) -> None:
        signature = builtins.SOURCES.get(source.name.text)
        if signature is None:
            fix = did_you_mean(source.name.text, builtins.SOURCES)
            expected = ", ".join(builtins.SOURCES)
            self.found.add("GN110", source.span, name=source.name.text, expected=expected, fix=fix)
        elif info.place not in signature.places or info.type not in signature.types:
            self.found.add(
                "GN130",
                source.span,
                name=source.name.text,
                place=_plural(info.place),
                type=info.type,
                fits=f"a {' or '.join(signature.types)}",
                on=" or ".join(map(_plural, signature.places)),
            )
        elif len(source.args) != len(signature.args):
            form = f"{source.name.text}({', '.join(signature.args)})"
            self.found.add(
                "GN203",
                source.span,
                name=source.name.text,
                expected=len(signature.args),
                found=len(source.args),
                form=form if signature.args else source.name.text,
            )


def _plural(place: str) -> str:
    return "the graph" if place == "graph" else f"{place}s"


def _usual_value(info: FeatureInfo) -> str:
    if info.type == "categorical":
        return info.choices[0] if info.choices else "0"
    return {"mask": "false", "pointer": "s", "mask_one": "s"}.get(info.type, "0")


def _usual_source(info: FeatureInfo) -> str:
    return {"scalar": "uniform(0, 1)", "mask_one": "any_node"}.get(info.type, "given")


def _column_fix(word: str, code: str) -> str | None:
    """A word of another column, or of another language."""
    columns = {"GN104": builtins.STAGES, "GN105": tuple(PLACES), "GN106": builtins.TYPES}
    if any(word in known for known in columns.values()):
        return "The order is: name, stage, location, type."
    foreign = {"GN104": _FOREIGN_STAGES, "GN105": _FOREIGN_PLACES, "GN106": FOREIGN_TYPES}
    return foreign[code].get(word)


_POSITIONS = {
    "node": ("node(x)", "a node has one position, which gets one name"),
    "edge": ("edge(x, y)", "an edge has two ends with a name each"),
    "pair": ("pair(x, y)", "a pair has two positions with a name each"),
    "graph": ("graph", "there is only one graph, so it has no position"),
}
_FOREIGN_GRAPHS = {
    "weighted": "Weights are a feature, such as `A  input  edge  scalar  ~ uniform(0, 1)`.",
    "simple": "Graphs are always simple: leave the word out.",
    "tree": "A tree is `graph undirected connected acyclic`.",
    "dag": "It is `graph directed acyclic`.",
    "dynamic": "A graph whose edges change is `mutable`.",
}
_FOREIGN_STAGES = {
    **dict.fromkeys(["static", "const", "constant", "given"], "What is given is `input`."),
    **dict.fromkeys(["variable", "var", "dynamic"], "What updates change is `state`."),
    **dict.fromkeys(["label", "target", "hint", "output"], "A hidden label is `oracle`."),
    **dict.fromkeys(["computed", "formula"], "What follows from a formula is `derived`."),
}
_FOREIGN_PLACES = {
    **dict.fromkeys(["vertex", "vertices"], "A vertex is a `node` here."),
    **dict.fromkeys(["arc", "link", "arcs", "links"], "It is an `edge` here."),
    **dict.fromkeys(["global", "scalar"], "What exists once lives on the `graph`."),
}
FOREIGN_TYPES = {
    **dict.fromkeys(["float", "int", "integer", "number", "real"], "Numbers are `scalar`."),
    **dict.fromkeys(["bool", "boolean", "bit"], "Truth values are `mask`."),
    **dict.fromkeys(["enum", "category"], "Write `categorical(a | b | c)`."),
    "node": "A feature that holds a node is a `pointer`.",
}


def clause_word(block: ast.Block) -> str:
    """The keyword that starts a block."""
    words = {"GraphDecl": "graph", "ProblemHead": "problem", "Version": "gnarl"}
    return words.get(type(block).__name__, type(block).__name__.lower())
