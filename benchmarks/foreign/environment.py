"""A folder in, the interpreter of an environment of its own out, with the packages of others."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

# torch first: the pinned build must be there before anything asks for some torch.
PACKAGES = (("torch==2.13.0",), ("rl4co==0.7.0", "jumanji==1.1.2"))
SHOWN = ("rl4co", "jumanji", "torch", "torchrl", "tensordict", "jax", "jaxlib", "numpy")


def interpreter(folder: Path) -> Path:
    """The environment's Python; the environment is made if it is not there, in some minutes."""
    python = folder / "bin" / "python"
    if not (folder / "made").is_file():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        for packages in PACKAGES:
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True)
        (folder / "made").write_text("\n".join(sum(PACKAGES, ())) + "\n", "utf-8")
    return python


def versions(python: Path) -> dict[str, str]:
    """What is installed there."""
    code = (
        "import json, sys; from importlib.metadata import version; "
        "print(json.dumps({name: version(name) for name in sys.argv[1:]}))"
    )
    run = subprocess.run([str(python), "-c", code, *SHOWN], check=True, stdout=subprocess.PIPE)
    found: dict[str, str] = json.loads(run.stdout)
    return found
