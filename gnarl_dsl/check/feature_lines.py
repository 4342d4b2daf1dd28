"""Lines of a `features` block in, declared features out: stage, location, type, shape."""

from __future__ import annotations

from gnarl_dsl.check.environment import Declarations, FeatureInfo
from gnarl_dsl.check.hints import FOREIGN_PLACES, FOREIGN_STAGES, FOREIGN_TYPES
from gnarl_dsl.language import builtins
from gnarl_dsl.language.builtins import PLACES
from gnarl_dsl.model import kinds
from gnarl_dsl.report.suggestions import count_of, did_you_mean
from gnarl_dsl.syntax import ast


class FeatureReader:
    """Declares features whose names are free; reports columns that do not fit."""

    def __init__(self, names: Declarations) -> None:
        self.names = names
        self.found = names.found

    def read(self, tree: ast.Feature) -> None:
        if len(tree.columns) != 3 or self._in_wrong_order(tree):
            found = " ".join(column.name.text for column in tree.columns) or "nothing"
            fix = self._columns_fix(tree)
            self.found.add("GN103", tree.span, name=tree.name.text, found=found, fix=fix)
            self.names.lose(tree.name.text)
            return
        stage = self._word(tree.columns[0], builtins.STAGES, "GN104")
        place = self._word(tree.columns[1], tuple(PLACES), "GN105")
        kind = self._word(tree.columns[2], builtins.TYPES, "GN106")
        if stage is None or place is None or kind is None:
            self.names.lose(tree.name.text)
            return
        info = FeatureInfo(
            tree,
            kinds.STAGES[stage],
            kinds.PLACES[place],
            kinds.TYPES[kind],
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
        if len(names) > 1:
            names = tuple(dict.fromkeys(names))
        count = column.args[0] if len(column.args) == 1 else None
        if isinstance(count, ast.Number) and count.value.is_integer() and 2 <= count.value <= 1000:
            return int(count.value), ()
        self.found.add("GN123", column.span)
        return max(2, len(names)), names

    def _feature_shape(self, info: FeatureInfo) -> None:
        """Places, types and right-hand sides that do not go together."""
        tree = info.tree
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
                expected=count_of(len(signature.args), "argument"),
                found=count_of(len(source.args)),
                form=form if signature.args else source.name.text,
            )


def _plural(place: str) -> str:
    return "the graph" if place == "graph" else f"{place}s"


def _usual_value(info: FeatureInfo) -> str:
    if info.type == "categorical":
        return info.choices[0] if info.choices else "0"
    return {"mask": "false", "pointer": "s", "mask_one": "s"}.get(info.type, "0")


def _usual_source(info: FeatureInfo) -> str:
    return {"scalar": "uniform(0, 1)", "mask_one": "any_node", "mask": "coin(0.5)"}.get(
        info.type, "given"
    )


def _column_fix(word: str, code: str) -> str | None:
    """A word of another column, or of another language."""
    columns = {"GN104": builtins.STAGES, "GN105": tuple(PLACES), "GN106": builtins.TYPES}
    if any(word in known for known in columns.values()):
        return "The order is: name, stage, location, type."
    foreign = {"GN104": FOREIGN_STAGES, "GN105": FOREIGN_PLACES, "GN106": FOREIGN_TYPES}
    return foreign[code].get(word)


_POSITIONS = {
    "node": ("node(x)", "a node has one position, which gets one name"),
    "edge": ("edge(x, y)", "an edge has two ends with a name each"),
    "pair": ("pair(x, y)", "a pair has two positions with a name each"),
    "graph": ("graph", "there is only one graph, so it has no position"),
}
