"""The name of a problem in, the checkpoint that is shipped for it out. Needs no torch."""

from __future__ import annotations

from pathlib import Path

from gnarl_dsl.report.failures import UsageError

_FOLDER = Path(__file__).with_name("pretrained_weights")


def pretrained_names() -> list[str]:
    """The problems for which weights are shipped."""
    return sorted(path.stem for path in _FOLDER.glob("*.safetensors"))


def find_pretrained(name: str) -> Path:
    """The shipped checkpoint of that name; a UsageError names the others."""
    from gnarl_dsl.report.suggestions import nearest

    path = _FOLDER / f"{name}.safetensors"
    if name in pretrained_names():
        return path
    close = nearest(name, pretrained_names())
    fix = f"did you mean {close}?" if close else f"shipped: {', '.join(pretrained_names())}"
    raise UsageError(f"--pretrained {name}: no such weights are shipped; {fix}")


def chosen_checkpoint(given: str | None, pretrained: str | None, expected: str) -> str:
    """The checkpoint that a command line means: a path, or a shipped one by name."""
    if given is not None and pretrained is not None:
        raise UsageError(f"both {given} and --pretrained {pretrained}; expected one of them")
    if pretrained is not None:
        return str(find_pretrained(pretrained))
    if given is None:
        raise UsageError(f"expected {expected}, or --pretrained NAME")
    return given
