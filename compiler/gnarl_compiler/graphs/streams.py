"""A seed, a purpose and some keys go in, a random generator of its own comes out.

Streams depend on their key only, never on how many others were opened before: the same
instance is drawn whatever the batch size, the order or the number of threads.
"""

from __future__ import annotations

import hashlib
import json
from operator import index

import numpy as np
from numpy.typing import NDArray


def stream(seed: int, purpose: str, *keys: int) -> np.random.Generator:
    """The random generator that belongs to (seed, purpose, keys)."""
    key = int.from_bytes(stream_key(seed, purpose, *keys), "little")
    return np.random.Generator(np.random.Philox(key=key))


def stream_key(seed: int, purpose: str, *keys: int, size: int = 16) -> bytes:
    """What tells streams apart, in so many bytes."""
    parts = json.dumps([index(seed), purpose, *map(index, keys)])  # no two keys share a text
    return hashlib.blake2b(parts.encode(), digest_size=size, person=b"gnarl").digest()


def mix64(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every 64-bit number scrambled to another, one to one (the splitmix64 finaliser)."""
    z = np.asarray(x, dtype=np.uint64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
