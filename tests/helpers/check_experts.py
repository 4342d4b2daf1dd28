"""Expert play on many random instances per problem, with the judges of test_experts.

python tests/helpers/check_experts.py --count 1000 [--seed 0] [SPEC ...]
"""

from __future__ import annotations

import argparse
import sys
import time

from shipped_specs import SHIPPED
from test_experts import follow


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="*", default=list(SHIPPED), metavar="SPEC")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    for name in args.specs:
        began = shown = time.monotonic()
        for number in range(args.count):
            follow(name, number, 2 + number % 11, args.seed)
            if time.monotonic() - shown > 2:
                shown = time.monotonic()
                left = (shown - began) / (number + 1) * (args.count - number - 1)
                print(f"{name}: {number + 1} of {args.count}, {left:.0f} s left", end="\r")
        took = time.monotonic() - began
        print(f"{name}: {args.count} instances, n = 2..12, all legal and right, {took:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
