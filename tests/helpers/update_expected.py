"""Rewrite tests/bad/*.expected from what the front end says now. Read the diff before committing.

python tests/helpers/update_expected.py            all files
python tests/helpers/update_expected.py GN201      those whose name starts like this
"""

from __future__ import annotations

import sys

from bad_specs import bad_specs, expected_file, rendered


def main(prefixes: list[str]) -> None:
    changed = 0
    for path in bad_specs():
        if prefixes and not path.name.startswith(tuple(prefixes)):
            continue
        target, text = expected_file(path), rendered(path)
        if not target.exists() or target.read_text("utf-8") != text:
            target.write_text(text, "utf-8", newline="\n")
            changed += 1
            print(f"wrote {target.name}")
    for target in sorted(bad_specs()[0].parent.glob("*.expected")):
        if not target.with_suffix(".gnarl").exists():
            target.unlink()
            print(f"deleted {target.name}")
    print(f"{changed} changed")


if __name__ == "__main__":
    main(sys.argv[1:])
