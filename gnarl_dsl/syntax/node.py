"""Frozen value classes that take no time to define: the base of the syntax tree.

`@dataclass(frozen=True)` compiles six methods for each class; for the sixty classes of
the tree that is 40 ms before any command does anything. Here the methods are written
once. The rest is as with dataclasses: `fields`, `replace` and patterns work.
"""

from __future__ import annotations

from dataclasses import Field, FrozenInstanceError, dataclass
from typing import Any, ClassVar, NoReturn, dataclass_transform


@dataclass_transform(frozen_default=True)
class Node:
    """Subclasses list their fields as a dataclass does and need no decorator."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    __match_args__: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[dict[str, object]] = {}

    def __init_subclass__(cls) -> None:
        cls.__doc__ = cls.__doc__ or cls.__name__
        dataclass(init=False, repr=False, eq=False)(cls)
        names = cls.__match_args__
        cls._defaults = {name: getattr(cls, name) for name in names if hasattr(cls, name)}

    def __init__(self, *values: object, **named: object) -> None:
        given = {**self._defaults, **dict(zip(self.__match_args__, values, strict=False)), **named}
        if len(given) != len(self.__match_args__) or len(values) > len(given):
            wanted = ", ".join(self.__match_args__)
            raise TypeError(f"{type(self).__name__} takes ({wanted}), not {values} and {named}")
        self.__dict__.update(given)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *(getattr(self, name) for name in self.__match_args__)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__name__}({shown})"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")
