"""A node-link JSON file, as networkx writes it, goes in, RawGraphs come out."""

from __future__ import annotations

import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np

from gnarl_dsl.model.kinds import EDGE, GRAPH, NODE, Place
from gnarl_runtime.instances.instance_checks import InstanceError
from gnarl_runtime.readers.raw import RawGraph
from gnarl_runtime.readers.text import read_text
from gnarl_runtime.readers.values import verify_number


def read_node_link(path: Path) -> list[RawGraph]:
    """One graph, or a list of graphs."""
    data = _parsed(path)
    if isinstance(data, list):
        return [graph_of_json(item, f"{path}: [{k}]") for k, item in enumerate(data)]
    return [graph_of_json(data, f"{path}: ")]


def _parsed(path: Path) -> Any:
    def refuse(word: str) -> Any:
        raise InstanceError(f"{path}: found {word}; expected finite numbers")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise InstanceError(f"{path}: `{twice}` is given twice in one object; expected it once")
        return found

    text = read_text(path)
    try:
        return json.loads(text, parse_constant=refuse, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise InstanceError(f"{path}:{error.lineno}: {error.msg}; expected JSON") from error
    except RecursionError as error:
        raise InstanceError(f"{path}: nested too deep for a graph") from error
    except InstanceError:
        raise
    except ValueError as error:
        raise InstanceError(f"{path}: {error}") from error


def graph_of_json(data: Any, where: str) -> RawGraph:
    """`nodes` with an `id`, and `edges` (or `links`) with a `source` and a `target`."""
    at = where.rstrip(": ")
    if not isinstance(data, dict):
        raise InstanceError(f"{at}: expected an object with `nodes` and `edges`")
    if "edges" in data and "links" in data:
        raise InstanceError(f"{at}: found `edges` and `links`; expected one of them")
    nodes = _list(data, "nodes", where)
    key = "edges" if "edges" in data or "links" not in data else "links"
    edges = _list(data, key, where)
    labels = _labels(nodes, where)
    ends = [
        [_end(edge, e, labels, f"{where}{key}[{k}]") for e in ("source", "target")]
        for k, edge in enumerate(edges)
    ]
    return RawGraph(
        at,
        tuple(labels),
        np.array(ends, np.int64).reshape(-1, 2),
        directed=_truth(data, "directed", where),
        edge_values=_attributes(edges, {"source", "target", "key"}, f"{where}{key}"),
        node_values=_attributes(nodes, {"id"}, f"{where}nodes"),
        graph_values=_table(data.get("graph", {}), f"{where}graph"),
        spot=lambda k: f"{where}{key}[{k}]",
        form=_form,
    )


def _form(place: Place, name: str, value: str) -> str:
    entry = f'"{name}": {value}'
    if place is NODE:
        return f'nodes such as {{"id": "a", {entry}}}'
    if place is EDGE:
        return f'edges such as {{"source": "a", "target": "b", {entry}}}'
    whole = entry if place is GRAPH else f'"{name}": [[0, {value}], [{value}, 0]]'
    return f'"graph": {{{whole}}}'


def _labels(nodes: list[Any], where: str) -> dict[Hashable, int]:
    """The position of every node by its name."""
    labels: dict[Hashable, int] = {}
    for k, node in enumerate(nodes):
        label = _label(_entry(node, "id", f"{where}nodes[{k}]"), f"{where}nodes[{k}].id")
        if label in labels:
            raise InstanceError(f"{where}nodes[{k}].id: {label!r} was given before")
        labels[label] = k
    return labels


def _list(data: dict[str, Any], name: str, where: str) -> list[Any]:
    value = data.get(name)
    if not isinstance(value, list):
        raise InstanceError(f"{where}{name}: expected a list, found {_kind(value)}")
    return value


def _truth(data: dict[str, Any], name: str, where: str) -> bool | None:
    value = data.get(name)
    if value is not None and not isinstance(value, bool):
        raise InstanceError(f"{where}{name}: expected true or false, found {_kind(value)}")
    return value


def _entry(item: Any, name: str, where: str) -> Any:
    if not isinstance(item, dict) or name not in item:
        raise InstanceError(f"{where}: expected an object with `{name}`, found {_kind(item)}")
    return item[name]


def _label(value: Any, where: str) -> Hashable:
    """A text or number; networkx writes a tuple as a list."""
    if isinstance(value, list):
        return tuple(_label(item, where) for item in value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InstanceError(f"{where}: expected a text or a number, found {_kind(value)}")
    return value


def _end(edge: Any, name: str, labels: dict[Hashable, int], where: str) -> int:
    label = _label(_entry(edge, name, where), f"{where}.{name}")
    if label not in labels:
        raise InstanceError(f"{where}.{name}: there is no node {label!r}")
    return labels[label]


def _attributes(items: list[dict[str, Any]], ours: set[str], where: str) -> dict[str, list[Any]]:
    """Every attribute that some item has, with nothing where it is missing."""
    names = dict.fromkeys(name for item in items for name in item if name not in ours)
    for k, item in enumerate(items):
        _table(item, f"{where}[{k}]")
    return {name: [item.get(name) for item in items] for name in names}


def _table(values: Any, where: str) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise InstanceError(f"{where}: expected an object, found {_kind(values)}")
    for name, value in values.items():
        if isinstance(value, float):
            verify_number(value, value, f"{where}.{name}")
    return values


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", type(None): "nothing"}
    return names.get(type(value), repr(value)[:40])
