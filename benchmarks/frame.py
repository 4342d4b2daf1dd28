"""What benchmarks share around their figures: a command line in; text, JSON and a table out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import ROOT, short
from gnarl_compiler.build.files import write_whole

RESULTS = ROOT / "docs" / "results"


def say(line: str) -> None:
    """A line of progress."""
    print(line, file=sys.stderr, flush=True)


# Benchmarks whose table belongs to the documentation


def results_parser(description: str | None) -> argparse.ArgumentParser:
    """The command line of one of them."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="DIR")
    return parser


def publish(folder: Path, name: str, lines: Iterable[str], record: Mapping[str, Any]) -> None:
    """Write a table and print it."""
    text = "\n".join(lines) + "\n"
    write_results(folder, name, text, record)
    print(text)


def write_results(
    folder: Path, name: str, text: str, record: Mapping[str, Any] | Sequence[Any]
) -> None:
    """A table as Markdown, and what it was made from as JSON beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{name}.md", text.encode())
    write_whole(folder / f"{name}.json", compact_json(record).encode())


def compact_json(record: Mapping[str, Any] | Sequence[Any]) -> str:
    """JSON with a line for every entry of a table, so that a diff shows which changed."""
    if not isinstance(record, Mapping):
        return f"{_lines(record)}\n"
    parts = [f"{json.dumps(key)}: {_part(value)}" for key, value in record.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _part(value: Any) -> str:
    table = isinstance(value, list) and any(isinstance(entry, dict) for entry in value)
    return _lines(value) if table else json.dumps(value, ensure_ascii=False)


def _lines(entries: Sequence[Any]) -> str:
    return "[\n" + ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries) + "\n]"


# Benchmarks of speed, whose figures go to the screen and to build/bench


def speed_parser(description: str | None, name: str) -> argparse.ArgumentParser:
    """The command line of one of them."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    output = ROOT / "build" / "bench" / f"{name}.json"
    parser.add_argument("--output", type=Path, default=output, help="where the JSON goes")
    return parser


def show(output: Path, record: Mapping[str, Any], text: str) -> None:
    """Write the record of a run and print its tables."""
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(record, indent=2) + "\n", "utf-8")
    print(f"{text}\n\nwritten: {output}")


def heading(source: Mapping[str, Any]) -> str:
    """Which machine, and how busy; what was measured follows."""
    before, after = source["load"]
    return (
        f"{source['cpu']}, core {source['core']} of {source['cores']}, one thread, "
        f"commit {short(source['commit'])}\nload {before} before, {after} after; "
    )


def aligned(rows: list[list[str]]) -> str:
    """Columns side by side: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)
