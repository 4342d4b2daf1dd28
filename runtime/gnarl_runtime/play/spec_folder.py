"""Names that a page asks for in, files of one folder out; nothing beside that folder is touched."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gnarl_compiler.build.files import write_whole
from gnarl_dsl.report.source import MAX_BYTES, normalise_text
from gnarl_dsl.specs import find_spec, specs_folder
from gnarl_runtime.web.replies import Refused

ENDING = ".gnarl"
RUNS = "runs"
MOST_FILES = 400
MOST_DEPTH = 4
_CHANGED = 409


@dataclass(frozen=True)
class SpecFile:
    """A spec as the page has it; `digest` says which text on disk it comes from."""

    path: str
    text: str
    digest: str | None  # None: it is not on disk yet


@dataclass(frozen=True)
class Folder:
    """The folder that was named when the server was started."""

    root: Path  # resolved

    def place(self, name: str) -> Path:
        """Where a file is or would be; a link that leads out of the folder is no way out."""
        parts = name.split("/")
        if not name.endswith(ENDING) or len(name) > 300 or "\0" in name or "\\" in name:
            raise Refused(f"{name[:80]!r} is no name of a spec; expected NAME{ENDING}")
        if any(part in ("", ".", "..") or part.startswith(".") for part in parts):
            raise Refused(f"{name[:80]!r}: expected a file within the folder that is open")
        path = self.root.joinpath(*parts)
        if not path.resolve().is_relative_to(self.root):
            raise Refused(f"{name[:80]} leads out of the folder that is open", 403)
        return path

    def files(self) -> list[str]:
        """The specs within, by their paths from here."""
        found = sorted(self._found(), key=lambda name: (name.count("/"), name))
        return found[:MOST_FILES]

    def _found(self) -> Iterator[str]:
        seen = 0
        for folder, inner, names in os.walk(self.root):
            here = Path(folder).relative_to(self.root)
            deep = len(here.parts) >= MOST_DEPTH
            inner[:] = [] if deep else [n for n in sorted(inner) if n[0] != "." and n != RUNS]
            for name in sorted(names):
                if name.endswith(ENDING) and not name.startswith("."):
                    seen += 1
                    yield (here / name).as_posix()
            if seen >= MOST_FILES:
                return

    def read(self, name: str) -> SpecFile:
        path = self.place(name)
        if not path.is_file():
            raise Refused(f"there is no {name} in the folder any more", 404)
        content = path.read_bytes()[: MAX_BYTES + 1]
        if len(content) > MAX_BYTES:
            raise Refused(f"{name} is larger than {MAX_BYTES:,} bytes, which no spec is")
        try:
            text = normalise_text(content.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise Refused(f"{name} is not UTF-8 text (byte {error.start})") from error
        return SpecFile(name, text, _digest(content))

    def save(self, name: str, text: str, known: str | None) -> str:
        """Write a file whole; refused if it is not the one that the page has read."""
        path = self.place(name)
        content = text.encode("utf-8", "replace")
        if len(content) > MAX_BYTES:
            raise Refused(f"{name}: a spec of more than {MAX_BYTES:,} bytes is not read")
        if path.exists() and not path.is_file():
            raise Refused(f"{name} is there and is no file")
        now = _digest(path.read_bytes()) if path.exists() else None
        if now not in (known, _digest(content)):
            told = "was changed by somebody else" if now and known else "is there already"
            raise Refused(f"{name} {told if now else 'is not there any more'}", _CHANGED)
        if not path.parent.is_dir():
            raise Refused(f"there is no folder {path.parent.name} here")
        write_whole(path, content)
        return _digest(content)

    def owns(self, path: Path) -> bool:
        """Whether a file that a spec extends may be shown: it lies here, or is shipped."""
        real = path.resolve()
        return real.is_relative_to(self.root) or real.is_relative_to(specs_folder().resolve())


def shipped(name: str) -> SpecFile:
    """A shipped spec as a file that is not in the folder yet."""
    path = find_spec(name) if name.isidentifier() else None
    if path is None:
        raise Refused(f"no spec called {name[:80]} is shipped", 404)
    return SpecFile(f"{name}{ENDING}", normalise_text(path.read_text("utf-8")), None)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
