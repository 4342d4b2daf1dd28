"""What a page says about a graph in, an instance of a problem out: drawn, from a file, told."""

from __future__ import annotations

import base64
import binascii
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Annotated, Literal, assert_never

from pydantic import Field

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.instances.draw import Family, draw_instance
from gnarl_dsl.model import InstanceSet, Problem, Split
from gnarl_dsl.report.failures import GnarlError
from gnarl_runtime.instances.instance_json import Case
from gnarl_runtime.web.replies import Question, Refused

MOST_NODES = 200  # that can be told apart in a picture
MOST_BYTES = 8 << 20  # of a file that is dropped


class Drawn(Question):
    """A graph of a family of the spec, as `gnarl-trace` draws it."""

    kind: Literal["drawn"]
    family: str = ""  # as `families_of` calls it; empty: the first
    nodes: int
    seed: int


class Dropped(Question):
    """A file of the user's; its name says only of what kind it is."""

    kind: Literal["file"]
    name: str
    content: str  # base64
    seed: int = 0


class Told(Question):
    """An instance in every detail, such as that of a counterexample."""

    kind: Literal["case"]
    case: Case


GraphAsked = Annotated[Drawn | Dropped | Told, Field(discriminator="kind")]


@dataclass(frozen=True)
class NamedFamily:
    """A line of instances that the page offers."""

    name: str
    label: str
    family: Family


def families_of(problem: Problem) -> list[NamedFamily]:
    """Every kind of graph that the spec names, once each; the first is drawn unless told."""
    found: dict[str, NamedFamily] = {}
    for entry in problem.instances:
        for split in entry.splits:
            named = _named(entry, split)
            found.setdefault(named.label, named)
    return list(found.values())


def _named(entry: InstanceSet, split: Split) -> NamedFamily:
    args = tuple(arg for arg in split.args if arg.name != "n")
    shown = Family(split.name, split.generator, args, entry.laws).label()
    label = f"{entry.name}: {shown}"
    return NamedFamily(label, label, Family(split.name, split.generator, split.args, entry.laws))


def instance_of(problem: Problem, asked: Drawn | Dropped | Told) -> Instance:
    """The instance; what is wrong with it is a message."""
    match asked:
        case Drawn():
            instance = _drawn(problem, asked)
        case Dropped():
            instance = first_of(problem, asked)
        case Told():
            instance = asked.case.instance(problem, "the graph")
        case _:
            assert_never(asked)
    if instance.graph.n > MOST_NODES:
        raise Refused(
            f"the graph has {instance.graph.n:,} nodes; expected at most {MOST_NODES}, more cannot "
            "be told apart in a picture (Solve takes larger ones)"
        )
    return instance


def _drawn(problem: Problem, asked: Drawn) -> Instance:
    known = families_of(problem)
    if not known:
        raise Refused(f"{problem.name} declares no instances to draw a graph from; drop a file")
    if not 1 <= asked.nodes <= MOST_NODES:
        raise Refused(f"{asked.nodes} nodes: expected 1 to {MOST_NODES}")
    if asked.seed < 0:
        raise Refused(f"seed {asked.seed}: expected 0 or more")
    chosen = next((own for own in known if own.name == asked.family), known[0])
    return draw_instance(problem, chosen.family, asked.seed, 0, nodes=asked.nodes)


def first_of(problem: Problem, asked: Dropped) -> Instance:
    """The first graph of a file."""
    from gnarl_runtime.readers.read import read_graphs

    with written(asked) as path:
        try:
            return read_graphs(path, problem, seed=asked.seed)[0]
        except (GnarlError, ValueError, LookupError) as error:
            raise Refused(str(error).replace(str(path), PurePath(asked.name).name)) from error


@contextmanager
def written(asked: Dropped) -> Iterator[Path]:
    """The file where readers can read it, for as long as that takes."""
    endings = "".join(PurePath(asked.name).suffixes[-2:])
    ending = endings if endings.endswith(".gnarl.npz") else PurePath(asked.name).suffix
    if not ending.replace(".", "").isalnum() or len(ending) > 12:
        raise Refused(f"{asked.name[:80]}: expected a file such as graph.json or roads.gr")
    if len(asked.content) > MOST_BYTES * 4 // 3 + 4:
        raise Refused(f"{asked.name[:80]} is larger than {MOST_BYTES >> 20} MB")
    try:
        content = base64.b64decode(asked.content, validate=True)
    except binascii.Error as error:
        raise Refused(f"{asked.name[:80]} did not arrive whole") from error
    with tempfile.TemporaryDirectory(prefix="gnarl-play-") as folder:
        path = Path(folder) / f"graph{ending}"
        path.write_bytes(content)
        yield path
