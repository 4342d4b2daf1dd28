"""Everything that is registered in; out: the table of signatures that ships with the language.

    python -m gnarl_compiler.describe.registered_table     writes gnarl_dsl/language/registered.py

The checker starts in a fraction of a second and imports no NumPy, so it cannot look at the
algorithms, generators and sources themselves. A test says when the table is out of date.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path

from gnarl_compiler.algorithms.registry import find_algorithms
from gnarl_compiler.instances.generators import FAMILIES
from gnarl_compiler.instances.sources import SOURCES
from gnarl_dsl.language import signatures
from gnarl_dsl.language.signatures import FunctionSignature, GeneratorSignature, SourceSignature
from gnarl_dsl.model import kinds
from gnarl_dsl.model.kinds import Named

Signature = FunctionSignature | GeneratorSignature | SourceSignature
_WIDTH = 100
TABLE_FILE = Path(signatures.__file__).with_name("registered.py")


def table_text() -> str:
    """The Python file that is shipped, in house style."""
    functions = {name: algorithm.signature for name, algorithm in find_algorithms().items()}
    generators = {name: family.signature for name, family in FAMILIES.items()}
    sources = {name: source.signature for name, source in SOURCES.items()}
    return _FILE.format(
        functions=_rows(functions), generators=_rows(generators), sources=_rows(sources)
    )


def _rows(table: Mapping[str, Signature]) -> str:
    return "\n".join(line for name, entry in table.items() for line in _row(name, entry))


def _row(name: str, entry: Signature) -> Iterator[str]:
    """An entry with what is not understood, one line each."""
    yield f'    "{name}": {type(entry).__name__}('
    for field in fields(entry):
        value = getattr(entry, field.name)
        if value != field.default:
            line = f"        {field.name}={_literal(value)},"
            if len(line) <= _WIDTH or not isinstance(value, tuple):
                yield line
                continue
            yield f"        {field.name}=("
            yield from (f"            {_literal(item)}," for item in value)
            yield "        ),"
    yield "    ),"


def _literal(value: object) -> str:
    match value:
        case Named():
            return _constant(value)
        case str():
            return json.dumps(value, ensure_ascii=False)
        case tuple():
            comma = "," if len(value) == 1 else ""
            return f"({', '.join(map(_literal, value))}{comma})"
    return repr(value)


def _constant(value: Named) -> str:
    """The name that its own module has for an object."""
    homes = (kinds, signatures)
    return next(
        f"{home.__name__.rpartition('.')[2]}.{name}"
        for home in homes
        for name, known in vars(home).items()
        if known is value
    )


_FILE = '''"""The signatures of all that is registered. Made from the compiler by `make tables`."""

from __future__ import annotations

from collections.abc import Mapping

from gnarl_dsl.language import signatures
from gnarl_dsl.language.signatures import FunctionSignature, GeneratorSignature, SourceSignature
from gnarl_dsl.model import kinds

FUNCTIONS: Mapping[str, FunctionSignature] = {{
{functions}
}}

SOURCES: Mapping[str, SourceSignature] = {{
{sources}
}}

GENERATORS: Mapping[str, GeneratorSignature] = {{
{generators}
}}
'''


def main() -> None:
    TABLE_FILE.write_text(table_text(), "utf-8")
    print(f"wrote {TABLE_FILE}")


if __name__ == "__main__":
    main()
