"""Where a command is to write goes in; nothing, or a UsageError before any work is done, comes out.

A file that the same command reads, one that another flag writes, or one that belongs to a run
folder would be lost: none of them is ever what somebody wants to write to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from gnarl_dsl.report.failures import UsageError

# What a run folder is made of (training/run_folder.py); other files may lie there, too.
RUN_FILES = frozenset({"config.json", "metrics.jsonl", "curves.png", "verdict.json"})
RUN_FOLDERS = frozenset({"spec", "events"})
WEIGHTS = ".safetensors"


def verify_outputs(
    outputs: Mapping[str, str | Path | None], inputs: Iterable[str | Path | None] = ()
) -> None:
    """Raise a UsageError if a flag's file is a folder, an input, another output, or of a run."""
    read = [Path(path) for path in inputs if path not in (None, "-")]
    earlier: list[tuple[str, Path]] = []
    for flag, given in outputs.items():
        if given is None:
            continue
        path = Path(given)
        if path.is_dir():
            raise UsageError(f"{flag} {path} is a folder; expected the name of a file")
        if path.exists() and not path.is_file():
            continue  # a device or a pipe: written to, not replaced
        for other in read:
            if _same(path, other):
                raise UsageError(f"{flag} {path} is what this command reads; choose another name")
        for name, other in earlier:
            if _same(path, other):
                raise UsageError(f"{flag} and {name} are one file, {path}; choose two")
        if _is_of_a_run(path):
            raise UsageError(
                f"{flag} {path} belongs to the run in {_run_of(path)}, which would be damaged; "
                "choose another name"
            )
        earlier.append((flag, path))


def _same(left: Path, right: Path) -> bool:
    if left.exists() and right.exists():
        return left.samefile(right)
    return left.resolve() == right.resolve()


def _run_of(path: Path) -> Path:
    folder = path.resolve().parent
    return folder.parent if folder.name in RUN_FOLDERS else folder


def _is_of_a_run(path: Path) -> bool:
    folder, name = path.resolve().parent, path.resolve().name
    if folder.name in RUN_FOLDERS:
        return (folder.parent / "config.json").is_file()
    own = name in RUN_FILES or name.endswith(WEIGHTS)
    return own and (folder / "config.json").is_file()
