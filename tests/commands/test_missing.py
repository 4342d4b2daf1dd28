"""What is not installed is named with the line that installs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

BLOCK = "import sys\nsys.modules[{name!r}] = None\n"


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("name", "words", "extra"),
    [
        ("torch", ["gnarl_runtime.commands.train", "--spec", "bfs"], "train"),
        ("scipy", ["gnarl_runtime.commands.trace", "mvc", "--expert", "optimal"], "env"),
    ],
)
def test_commands_name_the_extra(name: str, words: list[str], extra: str) -> None:
    module, *arguments = words
    call = f"from {module} import main\nraise SystemExit(main({arguments!r}))"
    found = run(BLOCK.format(name=name) + call)
    assert found.returncode == 2, found.stderr
    assert f"{name} is not installed" in found.stderr
    assert f"pip install 'gnarl-dsl[{extra}]'" in found.stderr


def test_so_does_python() -> None:
    code = (
        "import gnarl_dsl as gnarl\n"
        "try:\n    gnarl.train\n"
        "except gnarl.UsageError as error:\n    print(isinstance(error, ImportError), error)"
    )
    found = run(BLOCK.format(name="torch") + code)
    assert found.stdout.startswith("True torch is not installed"), found.stderr
