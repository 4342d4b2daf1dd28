"""The pointers of a slot's nodes in; out: lists of who points where, and whose chains lead through.

`child` (slots, nodes) is the first of those that point to a node, `after` and `before` lead from
each of them to the next; -1 stands at the ends. A node that points to itself is in no list.
"""

from __future__ import annotations

from gnarl_compiler.support.jit import inlined


@inlined
def link(b, v, pointer, child, after, before):  # type: ignore[no-untyped-def]
    """List a node with those that point where it points."""
    up = pointer[b, v]
    if up == v:
        return
    first = child[b, up]
    if first >= 0:
        before[b, first] = v
    after[b, v] = first
    before[b, v] = -1
    child[b, up] = v


@inlined
def unlink(b, v, pointer, child, after, before):  # type: ignore[no-untyped-def]
    """Take a node off the list that it is in."""
    up = pointer[b, v]
    if up == v:
        return
    earlier, later = before[b, v], after[b, v]
    if earlier >= 0:
        after[b, earlier] = later
    else:
        child[b, up] = later
    if later >= 0:
        before[b, later] = earlier


@inlined
def link_all(b, n, pointer, child, after, before):  # type: ignore[no-untyped-def]
    for v in range(n[b]):
        child[b, v] = -1
    for v in range(n[b]):
        link(b, v, pointer, child, after, before)


@inlined
def list_leading(b, start, end, child, after, leading):  # type: ignore[no-untyped-def]
    """The nodes whose chain leads through `start`, but for `end`; how many they are.

    `start` is the first, and each other stands behind the one that it points to.
    """
    leading[0] = start
    count, k = 1, 0
    while k < count:
        v = child[b, leading[k]]
        while v >= 0:
            if v != start and v != end:
                leading[count] = v
                count += 1
            v = after[b, v]
        k += 1
    return count


@inlined
def is_leading(v, leading, count):  # type: ignore[no-untyped-def]
    """Whether a node is among those, the first apart."""
    for k in range(1, count):  # noqa: SIM110
        if leading[k] == v:
            return True
    return False
