"""A CVRPLIB file (.vrp) goes in, a complete RawGraph comes out.

It is a TSPLIB file, and more: numbers in the header and sections with numbers of nodes become
values by the names below, for inputs that are called so.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gnarl_dsl.model.kinds import GRAPH, NODE, Place
from gnarl_runtime.instances.instance_checks import InstanceError
from gnarl_runtime.readers.raw import RawGraph
from gnarl_runtime.readers.text import Line
from gnarl_runtime.readers.tsplib import TsplibFile, graph_of
from gnarl_runtime.readers.values import parse_number

# What a number in the header, and the numbers behind a node in a section, are called.
_NUMBERS = {
    "CAPACITY": "capacity",
    "VEHICLES": "vehicles",
    "TRUCKS": "vehicles",
    "DISTANCE": "distance_limit",
    "SERVICE_TIME": "service_time",
}
_SECTIONS = {
    "DEMAND_SECTION": ("demand",),
    "TIME_WINDOW_SECTION": ("opens", "closes"),
    "SERVICE_TIME_SECTION": ("service",),
    "LINEHAUL_SECTION": ("linehaul",),
    "BACKHAUL_SECTION": ("backhaul",),
}
_DEPOT = "DEPOT_SECTION"


def read_vrp(path: Path, rounded: bool = False) -> RawGraph:
    """Distances between all nodes, the depot, demands, and what else the file says."""
    file = TsplibFile(path, (*_SECTIONS, _DEPOT))
    raw = graph_of(file, rounded)
    node_values = {**raw.node_values}
    for section, names in _SECTIONS.items():
        if section in file.sections:
            columns = zip(*_rows(file, section, names), strict=True)
            node_values |= dict(zip(names, map(list, columns), strict=True))
    return replace(raw, node_values=node_values, graph_values=_graph_values(file), form=_form)


def _graph_values(file: TsplibFile) -> dict[str, object]:
    found: dict[str, object] = {}
    for field, name in _NUMBERS.items():
        if field in file.fields:
            line, value = file.fields[field]
            found[name] = parse_number(value, line.where)
    if _DEPOT in file.sections:
        found["depot"] = _depot(file)
    return found


def _depot(file: TsplibFile) -> str:
    """The one depot; the section ends with -1."""
    lines = [line for line in file.sections[_DEPOT] if line.words != ("-1",)]
    words = [word for line in lines for word in line.words if word != "-1"]
    if len(words) != 1:
        where = lines[0].where if lines else f"{file.path}:1"
        raise InstanceError(f"{where}: found {len(words)} depots, expected one")
    return str(_node(file, lines[0]))


def _rows(file: TsplibFile, section: str, names: tuple[str, ...]) -> list[tuple[float, ...]]:
    """The numbers behind each node, which stand in any order."""
    rows: dict[int, tuple[float, ...]] = {}
    for line in file.sections[section]:
        if len(line.words) != 1 + len(names):
            form = " ".join(["NODE", *(name.upper() for name in names)])
            raise line.error(f"found {len(line.words)} words, expected `{form}`")
        node = _node(file, line)
        if node in rows:
            raise line.error(f"node {node} was given before")
        rows[node] = tuple(line.number(k) for k in range(1, len(line.words)))
    if len(rows) != file.n:
        raise InstanceError(
            f"{file.path}: found {section} of {len(rows)} nodes, DIMENSION says {file.n}; "
            "is the file cut short?"
        )
    return [rows[node] for node in range(1, file.n + 1)]


def _node(file: TsplibFile, line: Line) -> int:
    node = line.whole(0, "the node")
    if not 1 <= node <= file.n:
        raise line.error(f"there is no node {node}, expected 1 to {file.n}")
    return node


def _form(place: Place, name: str, value: str) -> str:
    """The section or the header field of that name."""
    if place is NODE:
        sections = (section for section, names in _SECTIONS.items() if name in names)
        return next((f"a {section} with a line per node" for section in sections), "")
    if name == "depot":
        return f"a {_DEPOT} with the depot and -1"
    fields = (field for field, called in _NUMBERS.items() if called == name)
    return next((f"`{field}: 5` in the header" for field in fields if place is GRAPH), "")
