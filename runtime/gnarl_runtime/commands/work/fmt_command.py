"""The work of `gnarl-fmt`: files and folders in, specs in house style and an exit code out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.report.source import MAX_BYTES, Source, normalise_text
from gnarl_runtime.commands.console import drop_output
from gnarl_runtime.commands.options import BUG, FAILED, OK, USAGE


@dataclass(frozen=True, slots=True)
class Options:
    """Whether files are left alone: listed only, or shown as they would be."""

    check: bool
    diff: bool

    @property
    def writes(self) -> bool:
        return not (self.check or self.diff)


def fmt_command(specs: Sequence[str], options: Options) -> int:
    """Format every file that is named or found; the worst of their exit codes."""
    try:
        codes = [_guard(name, _format_argument, options) for name in dict.fromkeys(specs)]
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`| head`) has seen enough; whether all is formatted, nobody knows.
        drop_output()
        return FAILED
    return max(codes) if codes else _refuse(f"no spec given.\n{_hint('gnarl-fmt specs')}")


def _hint(example: str) -> str:
    return f"Name files or folders, as in `{example}`, or - for standard input."


# One argument, one file


def _guard(name: str, work: Callable[[str, Options], int], options: Options) -> int:
    """Do `work` on one file or folder; what goes wrong becomes a message and an exit code."""
    from gnarl_dsl.report.diagnostics import InternalError, SpecError

    try:
        return work(name, options)
    except SpecError as error:
        print(error, file=sys.stderr)
        return FAILED
    except InternalError as error:
        print(f"gnarl-fmt: {error}", file=sys.stderr)
        return BUG
    except UsageError as error:
        return _refuse(str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        return _refuse(f"cannot use {error.filename or name}: {error.strerror or error}.")


def _refuse(message: str) -> int:
    print(f"gnarl-fmt: {message}", file=sys.stderr)
    return USAGE


def _format_argument(name: str, options: Options) -> int:
    """Format standard input, a file, or each file of a folder."""
    if name == "-":
        return _format_stdin(options)
    return max(_guard(str(path), _format_file, options) for path in _files(Path(name)))


def _format_stdin(options: Options) -> int:
    if sys.stdin is None:
        return _refuse("standard input is closed; expected a spec, such as < specs/bfs.gnarl")
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    new = _formatted("<stdin>", data)
    if options.writes:
        _show(new)
        return OK
    return _report("<stdin>", data, new, options)


def _show(formatted: bytes) -> None:
    """Byte for byte where it goes into a file, as text that cannot steer it to a terminal."""
    if sys.stdout is None or sys.stdout.isatty():
        print(formatted.decode("utf-8"), end="")
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(formatted)
    sys.stdout.flush()


def _format_file(name: str, options: Options) -> int:
    data = _read(name)
    new = _formatted(name, data)
    if not options.writes or new == data:
        return _report(name, data, new, options)
    _write(name, new)
    print(f"formatted {name}")
    return OK


def _formatted(name: str, data: bytes) -> bytes:
    """The bytes of a spec in house style."""
    from gnarl_dsl.format.house_style import format_source

    if len(data) > MAX_BYTES:
        raise UsageError(
            f"{name} is larger than the {MAX_BYTES:,} bytes a spec may have.\n"
            "Instances belong into data files, not into the spec."
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(
            f"{name} is not UTF-8 text: line {line} holds the byte 0x{data[error.start]:02x}.\n"
            "Save the file as UTF-8."
        ) from None
    return format_source(Source(name, normalise_text(text))).encode("utf-8")


# Reports


def _report(name: str, old: bytes, new: bytes, options: Options) -> int:
    if old == new:
        return OK
    if options.check:
        print(f"would format {name}")
    if options.diff:
        print("".join(_diff(name, old.decode("utf-8"), new.decode("utf-8"))), end="")
    return FAILED


def _diff(name: str, old: str, new: str) -> Iterator[str]:
    from difflib import unified_diff

    for line in unified_diff(_lines(old), _lines(new), name, f"{name} (formatted)"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    *whole, rest = text.split("\n")
    return [line + "\n" for line in whole] + ([rest] if rest else [])


# Files


def _files(path: Path) -> list[Path]:
    """The file itself, or the specs in a folder and the folders below."""
    if path.is_dir():
        found = sorted(_specs_below(path))
        if not found:
            raise UsageError(f"there is no .gnarl file in {path}.\n{_hint('gnarl-fmt my.gnarl')}")
        return found
    if not path.exists():
        raise UsageError(f"there is no file {path}.\n{_likely_file(path)}")
    if not path.is_file():
        raise UsageError(f"{path} is not a file.\n{_hint('gnarl-fmt my.gnarl')}")
    return [path]


def _specs_below(folder: Path) -> Iterator[Path]:
    """All .gnarl files; hidden folders such as .git and .venv hold none of ours."""
    for place, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(place, name) for name in names if name.endswith(".gnarl"))


def _raise(error: OSError) -> None:
    raise error


def _likely_file(path: Path) -> str:
    from gnarl_dsl.report.suggestions import nearest

    beside = {item.stem: item for item in path.parent.glob("*.gnarl")}
    close = nearest(path.stem, beside)
    if close is None:
        return f"Check the spelling; the current folder is {Path.cwd()}."
    return f"Did you mean {beside[close]}?"


def _read(name: str) -> bytes:
    try:
        with open(name, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(
            f"cannot read {name}: {error.strerror}.\nCheck who may read it: ls -l {name}"
        ) from None


def _write(name: str, data: bytes) -> None:
    """Replace the file in one step: a reader sees the old text or the new one."""
    target = Path(os.path.realpath(name))
    try:
        if not os.access(target, os.W_OK):
            raise PermissionError(0, "it is write-protected")
        _replace(target, data)
    except OSError as error:
        raise UsageError(
            f"cannot write {name}: {error.strerror}.\n"
            f"Check who may write it and its folder: ls -ld {target} {target.parent}"
        ) from None


def _replace(target: Path, data: bytes) -> None:
    from tempfile import mkstemp

    handle, name = mkstemp(prefix=f".{target.stem[:50]}-", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, target.stat().st_mode & 0o7777)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
