"""A policy for robust graph construction on real networks: what new edges gain, and what it costs.

    python -m benchmarks.studies.networks FILE [FILE …]         the weights that come with GNARL
    python -m benchmarks.studies.networks FILE --run runs/rgc --edges-per-node 0.2

Files list two names per line. Loops, repeated edges and all but the largest part of a network are
left out, as robustness is 0 without them. The policy is compared with picks at random and with
joining the nodes of the lowest degree. The table and its JSON go to docs/results.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.frame import publish, results_parser
from benchmarks.machine import (
    ROOT,
    load_average,
    pin_to_one_core,
    provenance,
    short,
)

SPEC = ROOT / "benchmarks" / "paper" / "families" / "rgc_connected.gnarl"
REMOVALS = ("random", "targeted")
BESIDE = ("lowest", "random")


def main(arguments: list[str] | None = None) -> int:
    """Play every network under both removals, print the table, write both files."""
    options = parse_options(arguments)
    missing = [file for file in options.files if not file.is_file()]
    if missing:
        print(f"{missing[0]}: there is no such file", file=sys.stderr)
        return 2
    empty = [file for file in options.files if not largest_part(file)]
    if empty:
        print(f"{empty[0]}: expected two names per line, found no edges", file=sys.stderr)
        return 1
    pin_to_one_core()
    before = load_average()
    rows = [
        row
        for file in options.files
        for removal in REMOVALS
        for row in played(file, removal, options)
    ]
    record = {"rows": rows, "edges_per_node": options.edges_per_node, "policy": policy_of(options)}
    record["provenance"] = provenance(load=[before, load_average()])
    publish(options.output, "networks", lines_of(record), record)
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = results_parser(__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--run", type=Path, metavar="RUN", help="a run folder or checkpoint")
    parser.add_argument(
        "--edges-per-node", type=float, default=0.5, metavar="K", help="new ones (default 0.5)"
    )
    return parser.parse_args(arguments)


def policy_of(options: argparse.Namespace) -> list[str]:
    return [str(options.run)] if options.run else ["--pretrained", "rgc"]


def played(file: Path, removal: str, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """What the policy and the others gain on one network."""
    print(f"{file.name}, {removal} removal", file=sys.stderr, flush=True)
    network = largest_part(file)
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "network.edges", Path(folder) / "result.json"
        data.write_text("".join(f"{a} {b}\n" for a, b in network.edges), "utf-8")
        command = [str(Path(sys.executable).with_name("gnarl-eval")), *policy_of(options)]
        command += ["--spec", str(SPEC), "--data", str(data), "--json", str(out)]
        tau = 2 * options.edges_per_node / (network.number_of_nodes() - 1)
        command += ["-p", f"removal={removal}", "-p", f"tau={tau:.9f}"]
        command += ["--against", ",".join(BESIDE)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        document = json.loads(out.read_text("utf-8"))
    players = {"policy": document["results"], **document["baselines"]}
    for player, (result,) in players.items():
        yield {
            "network": file.stem,
            "nodes": network.number_of_nodes(),
            "edges": network.number_of_edges(),
            "removal": removal,
            "player": player,
            "new_edges": result["steps"] / 2,
            "gain": result["reward"],
            "robustness": result["objective"],
            "seconds": result["seconds_per_graph"],
        }


def largest_part(file: Path) -> Any:
    """The largest connected part of a network, without loops."""
    import networkx as nx

    network = nx.read_edgelist(file, data=False)
    network.remove_edges_from(list(nx.selfloop_edges(network)))
    return network.subgraph(max(nx.connected_components(network), key=len, default=()))


def lines_of(record: dict[str, Any]) -> Iterator[str]:
    source = record["provenance"]
    yield "# Real networks, gain in robustness"
    yield ""
    yield "    python -m benchmarks.studies.networks FILE …"
    yield ""
    yield (
        f"Best picks of `{' '.join(record['policy'])}`, with "
        f"{record['edges_per_node']:g} new edges per node; the largest connected part of each "
        "network. Robustness is the share of nodes that are removed until the network falls apart. "
        "`lowest` joins the nodes of the lowest degree, `random` joins any. One core "
        f"({source['cpu']}, load {source['load'][0][0]}), at {short(source['commit'])}."
    )
    yield ""
    yield "| network | nodes | edges | removal | player | new edges | gain | robustness | s |"
    yield "|---|---:|---:|---|---|---:|---:|---:|---:|"
    for row in record["rows"]:
        yield (
            f"| {row['network']} | {row['nodes']} | {row['edges']} | {row['removal']} | "
            f"{row['player']} | {row['new_edges']:.0f} | {row['gain']:.4f} | "
            f"{row['robustness']:.4f} | {row['seconds']:.1f} |"
        )


if __name__ == "__main__":
    sys.exit(main())
