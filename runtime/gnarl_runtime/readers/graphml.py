"""A GraphML file goes in, RawGraphs come out.

Read with expat alone. A document type or entity is refused before anything comes of it: those
are what lets an XML file read other files or grow without bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

import numpy as np

from gnarl_dsl.model.kinds import PAIR, Place
from gnarl_runtime.instances.instance_checks import MAX_NODES, InstanceError
from gnarl_runtime.readers.raw import RawGraph
from gnarl_runtime.readers.text import read_bytes
from gnarl_runtime.readers.values import parse_number

_NESTED = ("hyperedge", "port")
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}


@dataclass
class _Key:
    """A declared attribute: its name, what has it, its type, and what it is if not given."""

    name: str
    place: str
    type: str
    default: Any = None


@dataclass
class _Item:
    """A node, an edge or a graph with its attributes."""

    where: str
    values: dict[str, Any] = field(default_factory=dict)


@dataclass
class _Graph(_Item):
    directed: bool = False
    nodes: dict[str, _Item] = field(default_factory=dict)
    edges: list[tuple[str, str, _Item]] = field(default_factory=list)


def read_graphml(path: Path) -> list[RawGraph]:
    """All graphs of a file."""
    reader = _Reader(path)
    reader.parse(read_bytes(path))
    if not reader.graphs:
        raise InstanceError(f"{path}:1: there is no <graph> in the file")
    return [_raw(graph, reader.keys) for graph in reader.graphs]


class _Reader:
    """What expat calls."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.keys: dict[str, _Key] = {}
        self.graphs: list[_Graph] = []
        self.items: list[_Item] = []  # the open graph, and the open node or edge in it
        self.key: _Key | None = None  # the open <key> or <data>
        self.text = ""
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.EntityDeclHandler = self.refuse

    def parse(self, content: bytes) -> None:
        try:
            self.parser.Parse(content, True)
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            raise InstanceError(
                f"{self.path}:{error.lineno}: not well-formed XML ({what})"
            ) from error
        except (ValueError, LookupError) as error:
            if isinstance(error, InstanceError):
                raise
            raise InstanceError(f"{self.path}: cannot be read as XML ({error})") from error

    @property
    def where(self) -> str:
        return f"{self.path}:{self.parser.CurrentLineNumber}"

    def fail(self, what: str) -> NoReturn:
        raise InstanceError(f"{self.where}: {what}")

    def refuse(self, *_: object) -> None:
        self.fail("document types and entities are not read; remove <!DOCTYPE …>")

    # Elements

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.split(" ")[-1]
        self.text = ""
        if tag == "key":
            self.declare(attributes)
        elif tag == "graph":
            self.open_graph(attributes)
        elif tag in ("node", "edge"):
            self.open_item(tag, attributes)
        elif tag == "data":
            known = self.keys.get(self.required(attributes, "key", "data"))
            self.key = known or self.fail(f"there is no <key id={attributes['key']!r}>")
        elif tag in _NESTED:
            self.fail(f"<{tag}> is not supported; expected nodes and edges")

    def end(self, name: str) -> None:
        tag = name.split(" ")[-1]
        if tag in ("node", "edge", "graph"):
            self.items.pop()
        elif tag == "data" and self.key and self.items:
            self.items[-1].values[self.key.name] = self.value(self.key)
            self.key = None
        elif tag == "default" and self.key:
            self.key.default = self.value(self.key)
        elif tag == "key":
            self.key = None

    def characters(self, text: str) -> None:
        if self.key is not None:
            self.text += text

    # What they mean

    def declare(self, attributes: dict[str, str]) -> None:
        name = attributes.get("attr.name", attributes.get("id", ""))
        place, kind = attributes.get("for", "all"), attributes.get("attr.type", "string")
        self.key = _Key(name, place, kind)
        self.keys[self.required(attributes, "id", "key")] = self.key

    def open_graph(self, attributes: dict[str, str]) -> None:
        if self.items:
            self.fail("a graph inside a graph is not supported")
        kind = attributes.get("edgedefault", "undirected")
        if kind not in ("directed", "undirected"):
            self.fail(f"edgedefault is {kind!r}, expected 'directed' or 'undirected'")
        graph = _Graph(self.where, directed=kind == "directed")
        self.graphs.append(graph)
        self.items.append(graph)

    def open_item(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.items) != 1:
            self.fail(f"<{tag}> stands outside <graph> or inside another element")
        graph, item = self.graphs[-1], _Item(self.where)
        self.items.append(item)
        if tag == "edge":
            self.open_edge(graph, item, attributes)
            return
        name = self.required(attributes, "id", tag)
        if name in graph.nodes:
            self.fail(f"node {name!r} was given before ({graph.nodes[name].where})")
        if len(graph.nodes) == MAX_NODES:
            self.fail(f"more than {MAX_NODES:,} nodes; expected a smaller graph")
        graph.nodes[name] = item

    def open_edge(self, graph: _Graph, item: _Item, attributes: dict[str, str]) -> None:
        own = attributes.get("directed", str(graph.directed).lower())
        if own != str(graph.directed).lower():
            self.fail(f"an edge with directed={own!r} in a graph where others are not")
        source, target = (self.required(attributes, e, "edge") for e in ("source", "target"))
        graph.edges.append((source, target, item))

    def required(self, attributes: dict[str, str], name: str, tag: str) -> str:
        return attributes[name] if name in attributes else self.fail(f"<{tag}> has no `{name}`")

    def value(self, key: _Key) -> Any:
        text = self.text.strip()
        match key.type:
            case "int" | "long" | "float" | "double":
                return parse_number(text, self.where)
            case "boolean":
                known = _TRUTHS.get(text.lower())
                return self.fail(f"`{text[:40]}` is not true or false") if known is None else known
            case _:
                return text


def _raw(graph: _Graph, keys: dict[str, _Key]) -> RawGraph:
    position = {name: k for k, name in enumerate(graph.nodes)}
    for source, target, item in graph.edges:
        for name in (source, target):
            if name not in position:
                raise InstanceError(f"{item.where}: there is no node {name!r}")
    ends = [[position[source], position[target]] for source, target, _ in graph.edges]
    edges = [item for _, _, item in graph.edges]
    return RawGraph(
        graph.where,
        tuple(graph.nodes),
        np.array(ends, np.int64).reshape(-1, 2),
        directed=graph.directed,
        edge_values=_attributes(edges, "edge", keys),
        node_values=_attributes(list(graph.nodes.values()), "node", keys),
        graph_values=graph.values,
        spot=lambda k: edges[k].where,
        form=_form,
    )


def _form(place: Place, name: str, value: str) -> str:
    if place is PAIR:
        return ""
    plain = value.strip('"[]')
    kind = {"true": "boolean", "0.5": "double"}.get(plain, "string")
    key = f'<key id="{name}" for="{place}" attr.name="{name}" attr.type="{kind}"/>'
    return f'{key} and, in each {place}, <data key="{name}">{plain}</data>'


def _attributes(items: list[_Item], place: str, keys: dict[str, _Key]) -> dict[str, list[Any]]:
    """Every attribute that some item has, with its default or nothing where it is missing."""
    defaults = {k.name: k.default for k in keys.values() if k.place in (place, "all")}
    given = dict.fromkeys(name for item in items for name in item.values)
    present = [name for name in defaults if name in given or defaults[name] is not None]
    names = dict.fromkeys([*given, *present]) if items else {}
    return {name: [item.values.get(name, defaults.get(name)) for item in items] for name in names}
