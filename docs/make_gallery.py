"""The specs of the gallery go in, docs/gallery.md and a picture for each come out.

python docs/make_gallery.py            the page and the pictures
python docs/make_gallery.py max_cut    the page and these pictures
python docs/make_gallery.py --page     the page only

Figures come from docs/results/gallery.json, which docs/gallery_results.py records.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import gnarl_dsl as gnarl
from gnarl_compiler.build.files import write_whole
from gnarl_dsl.model import GreedyExpert, Problem
from gnarl_dsl.specs import gallery_specs

FOLDER = Path(__file__).parent
PAGE, PICTURES, RESULTS = (
    FOLDER / "gallery.md",
    FOLDER / "pictures",
    FOLDER / "results" / "gallery.json",
)
HEAD = """# Gallery

<!-- Written by `python docs/make_gallery.py`; change the specs or the script, not this page. -->

Problems beyond those of the paper, each in one file of `specs/gallery/` that comes with GNARL:
`gnarl.load("max_cut")`, `gnarl-check max_cut`, `gnarl-train --spec max_cut` and all other commands
know them by name. All pass `gnarl-check`. The same network, trainers and commands serve every one
of them; nothing below has Python of its own.

Each picture shows one instance of ten nodes, solved by the spec's first expert: numbers say in
which round a node was picked, colours are classes or masks of the end, thick lines are edges that
were marked or pointers along edges, dashed ones were added, and ringed nodes are marked by an
input. The pictures are drawn from the types in the spec.

The figures are small on purpose: a minute or two of training on graphs of up to 16 nodes, by the
commands shown, on one core of a busy machine, then 100 fresh graphs of each size. `success` is the
share of episodes that end correct (valid, where nothing is said to be correct), left out where
that is all of everybody's; `to optimum` is the objective as a share of that of the expert called
`optimal`. Costs are negative objectives, so there a larger share is worse.
`python docs/gallery_results.py` repeats them.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="*", metavar="SPEC", help="draw these only")
    parser.add_argument("--page", action="store_true", help="leave the pictures as they are")
    args = parser.parse_args()
    problems = [gnarl.load(path.stem) for path in gallery_specs()]
    write_whole(PAGE, page(problems, load_results()).encode(), durable=False)
    if not args.page:
        write_pictures([p for p in problems if not args.specs or p.name in args.specs])
    return 0


def load_results() -> Mapping[str, Any]:
    known: Mapping[str, Any] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    return known


def write_pictures(problems: list[Problem]) -> None:
    from gallery_pictures import draw, solved

    PICTURES.mkdir(exist_ok=True)
    for problem in problems:
        picture = draw(solved(problem))
        write_whole(PICTURES / f"{problem.name}.png", picture, durable=False)


def page(problems: list[Problem], results: Mapping[str, Any]) -> str:
    """The whole page."""
    parts = [HEAD, *contents(problems)]
    for problem in problems:
        parts += section(problem, results.get(problem.name))
    return "\n".join(parts)


def contents(problems: list[Problem]) -> Iterator[str]:
    yield "| problem | graph | phases | shows |\n|---|---|---|---|"
    for problem in problems:
        link = f"[{problem.name}](#{problem.name})"
        phases = len(problem.phases)
        yield f"| {link} | {graph_words(problem)} | {phases} | {', '.join(shown(problem))} |"
    yield ""


def graph_words(problem: Problem) -> str:
    graph = problem.graph
    words = [
        word for word in ("connected", "complete", "acyclic", "mutable") if getattr(graph, word)
    ]
    return " ".join(["directed" if graph.directed else "undirected", *words])


def shown(problem: Problem) -> Iterator[str]:
    """Parts of the language that the spec uses and not every spec does."""
    text, features = problem.sources[0].text, problem.features
    parts = {
        "`extends`": f"problem {problem.name} extends" in text,
        "param": bool(problem.params),
        "points": any(f.type.apart for f in features),
        "hidden features": any(f.stage.name == "hidden" for f in features),
        "derived features": any(f.stage.name == "derived" for f in features),
        "pair feature": any(f.place.name == "pair" for f in features),
        "categories": any(f.type.name == "categorical" for f in features),
        "pointers": any(f.type.name == "pointer" for f in features),
        "marked edges": any(f.place.name == "edge" and f.stage.name == "state" for f in features),
        "`mask_one` that moves": any(
            f.type.name == "mask_one" and f.stage.name == "state" for f in features
        ),
        "drawn masks": any(f.source and f.source.name == "coin" for f in features),
        "parallel loops": "\n    for " in text,
        "`any argmin`": "any argmin" in text,
        "`component`": "component(" in text,
        "`correct`": problem.correct is not None,
        "rewards": bool(problem.rewards),
        "greedy expert": any(isinstance(expert, GreedyExpert) for expert in problem.experts),
    }
    yield from (name for name, used in parts.items() if used)


def section(problem: Problem, result: Mapping[str, Any] | None) -> list[str]:
    """Doc, picture, text and figures of one spec."""
    text = problem.sources[0].text
    name = problem.name
    parts = [f"## {name}", "", problem.doc, "", f"![{name}, solved](pictures/{name}.png)", ""]
    parts += ["```gnarl", text.rstrip("\n"), "```", ""]
    missing = [f"No figures yet: `python docs/gallery_results.py {name}` records them.", ""]
    return [*parts, *(figures(result) if result else missing)]


def figures(result: Mapping[str, Any]) -> list[str]:
    """The commands, and a row per size and player."""
    commands = ["```text", *(f"$ {command}" for command in result["commands"]), "```", ""]
    rows = [
        (row["nodes"], player, row)
        for size in range(len(result["rows"]["policy"]))
        for player in sorted(result["rows"], key=lambda name: (name != "policy", name))
        for row in [result["rows"][player][size]]
    ]
    keys = [key for key in COLUMNS if any(COLUMNS[key](row) is not None for *_, row in rows)]
    if "objective" in keys and all(row["success"] == 1 for *_, row in rows):
        keys.remove("success")  # whoever plays comes to a valid end: what counts is how good it is
    lines = ["| nodes | player | " + " | ".join(keys) + " |", "|---" * (2 + len(keys)) + "|"]
    for nodes, player, row in rows:
        cells = [cell(key, COLUMNS[key](row)) for key in keys]
        shown = f"**{player}**" if player == "policy" else player
        lines.append(f"| {nodes} | {shown} | {' | '.join(cells)} |")
    return [*commands, *lines, ""]


COLUMNS = {
    "success": lambda row: row["success"],
    "objective": lambda row: row.get("objective"),
    "to optimum": lambda row: row.get("ratio"),
    "picks": lambda row: row["steps"],
}


def cell(key: str, value: float | None) -> str:
    if value is None:
        return ""
    return (
        f"{100 * value:.0f} %"
        if key == "success"
        else f"{value:.3f}"
        if key != "picks"
        else f"{value:.1f}"
    )


if __name__ == "__main__":
    sys.exit(main())
