"""An archive of ours in; exit code 0 if DeepMind's algorithm ends in the same way on each input.

Run by a Python that has dm-clrs and need not have GNARL: `python against_clrs.py heapsort.npz`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import clrs
import numpy as np
from clrs._src import algorithms, probing

Inputs = Mapping[str, Any]


def main(path: str) -> int:
    archive = np.load(path, allow_pickle=False)
    about = json.loads(str(archive["about"]))
    for probe in about["probes"]:  # all are what their constructor takes
        values = archive[f"{probe['stage']}/{probe['name']}"]
        point = probing.DataPoint(probe["name"], probe["location"], probe["type"], values)
        assert point.location in ("node", "edge", "graph"), probe
        assert point.type_ in vars(clrs.Type).values(), probe
    name = about["problem"]
    for number in range(len(archive["lengths"])):
        given = {key[6:]: archive[key][number] for key in archive.files if key.startswith("input/")}
        ours = {key[7:]: archive[key][number] for key in archive.files if key.startswith("output/")}
        hints = {
            key[5:]: archive[key][0, number] for key in archive.files if key.startswith("hint/")
        }
        theirs, own = COMPARED[name]({**hints, **given}, ours)
        assert np.allclose(theirs, own), (name, number, theirs, own)
    return 0


def _matrix(given: Inputs) -> Any:
    """Weights, or ones, without the loops of `adj`."""
    adj = given["adj"] - np.eye(len(given["adj"]))
    return given.get("A", adj)


def _in_order(given: Inputs, values: Any) -> Any:
    """Along the positions of ours, which are in any order of nodes."""
    return np.asarray(values)[np.argsort(given["pos"])]


def _ranked(given: Inputs, node: Any) -> int:
    """The place of a node in the row."""
    return int(np.argsort(np.argsort(given["pos"]))[int(node)])


def _pointers(given: Inputs, pred: Any) -> list[int]:
    return [_ranked(given, pred[v]) for v in np.argsort(given["pos"])]


def _probe(result: Any, name: str) -> Any:
    """An output of theirs by its name."""
    _, probes = result if isinstance(result, tuple) else (None, result)
    return np.asarray(probes["output"][_location(probes, name)][name]["data"])


def _location(probes: Any, name: str) -> str:
    return next(place for place, found in probes["output"].items() if name in found)


def _marked(given: Inputs, mask: Any) -> int:
    return int(np.argmax(_in_order(given, mask)))


def _sorted(algorithm: Any) -> Callable[[Inputs, Inputs], tuple[Any, Any]]:
    def compare(given: Inputs, ours: Inputs) -> tuple[Any, Any]:
        theirs = _probe(algorithm(_in_order(given, given["key"])), "pred")
        return theirs, _pointers(given, ours["pred"])

    return compare


def _matched(algorithm: Any) -> Callable[[Inputs, Inputs], tuple[Any, Any]]:
    """Where the needle is in the text; ours tell how far they have come."""

    def compare(given: Inputs, ours: Inputs) -> tuple[Any, Any]:
        letters, needle = (_in_order(given, given[k]) for k in ("key", "needle"))
        letters, size = letters.argmax(axis=-1), int(needle.sum())
        text = letters[size:]
        theirs = int(algorithm(text, letters[:size])[0])
        n = len(letters)
        if "s" in ours:
            return theirs, round(float(ours["s"]) * n)
        return theirs, round(float(ours["h"]) * n) - 2 * size

    return compare


def _classes(pointers: Any) -> Any:
    return np.equal.outer(np.asarray(pointers), np.asarray(pointers))


def _adjacent(given: Inputs) -> Any:
    return given["adj"] - np.eye(len(given["adj"]))


COMPARED: dict[str, Callable[[Inputs, Inputs], tuple[Any, Any]]] = {
    "insertion_sort": _sorted(algorithms.insertion_sort),
    "bubble_sort": _sorted(algorithms.bubble_sort),
    "minimum": lambda g, o: (
        int(algorithms.minimum(_in_order(g, g["key"]))[0]),
        _marked(g, o["best"]),
    ),
    "binary_search": lambda g, o: (
        int(algorithms.binary_search(float(g["target"]), _in_order(g, g["key"]))[0]),
        round(float(o["low"]) * len(g["pos"])),
    ),
    "quickselect": lambda g, o: (
        _probe(algorithms.quickselect(_in_order(g, g["key"])), "median").argmax(),
        _marked(g, o["median"]),
    ),
    "find_maximum_subarray_kadane": lambda g, o: (
        algorithms.find_maximum_subarray_kadane(_in_order(g, g["key"]))[0][:2],
        (_marked(g, o["low"]), _marked(g, o["high"])),
    ),
    "activity_selector": lambda g, o: (
        algorithms.activity_selector(
            np.minimum(g["one"], g["other"]), np.maximum(g["one"], g["other"])
        )[0],
        o["selected"],
    ),
    "task_scheduling": lambda g, o: (
        # Theirs counts what was taken whatever its deadline, and may take too little.
        algorithms.task_scheduling(np.maximum(1, np.ceil(g["late"] * len(g["w"]))), g["w"])[0]
        @ g["w"]
        <= o["selected"] @ g["w"] + 1e-9,
        True,
    ),
    "jarvis_march": lambda g, o: (algorithms.jarvis_march(g["px"], g["py"])[0], o["hull"]),
    "graham_scan": lambda g, o: (algorithms.graham_scan(g["px"], g["py"])[0], o["hull"]),
    "naive_string_matcher": _matched(algorithms.naive_string_matcher),
    "kmp_matcher": _matched(algorithms.kmp_matcher),
    "bellman_ford": lambda g, o: (
        algorithms.bellman_ford(_matrix(g), int(g["s"].argmax()))[0],
        o["pred"],
    ),
    "mst_prim": lambda g, o: (
        algorithms.mst_prim(_matrix(g), int(g["s"].argmax()))[0],
        o["pred"],
    ),
    "floyd_warshall": lambda g, o: (
        _lengths(algorithms.floyd_warshall(_matrix(g))[0], _matrix(g), o["msk"]),
        np.where(o["msk"], o["D"], 0),
    ),
    "articulation_points": lambda g, o: (
        algorithms.articulation_points(_adjacent(g))[0],
        o["is_cut"],
    ),
    "bridges": lambda g, o: (np.asarray(algorithms.bridges(_adjacent(g))[0]) > 0, o["is_bridge"]),
    "strongly_connected_components": lambda g, o: (
        _classes(algorithms.strongly_connected_components(_adjacent(g))[0]),
        _classes(o["comp"]),
    ),
}


def _lengths(back: Any, weights: Any, joined: Any) -> Any:
    """How long the ways are that their pointers lead back along."""
    found = np.zeros(weights.shape)
    for u, v in zip(*np.nonzero(joined), strict=True):
        node = int(v)
        while node != u:
            found[u, v] += weights[int(back[u, node]), node]
            node = int(back[u, node])
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
