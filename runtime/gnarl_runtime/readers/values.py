"""Values from a file or a Python object go in, arrays that an instance holds come out."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from gnarl_dsl.model import Feature
from gnarl_runtime.instances.cells import Values
from gnarl_runtime.instances.instance_checks import InstanceError

# What is written as a number; Python would also take `1_000`, `nan` and other alphabets.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
LARGEST = float(np.finfo(np.float32).max)


def parse_number(text: str, where: str) -> float:
    """A finite number that single precision can hold, or an InstanceError that shows the text."""
    shown = text if len(text) <= 40 else text[:40] + "…"
    if not is_number(text):
        point = f", or `{text.replace(',', '.')}`" if is_number(text.replace(",", ".")) else ""
        told = f"expected one such as 2 or 0.75{point}"
        raise InstanceError(f"{where}: `{shown}` is not a number; {told}")
    return verify_number(float(text), shown, where)


def is_number(text: str) -> bool:
    return len(text) <= 400 and _NUMBER.fullmatch(text) is not None


def verify_number(value: float, shown: object, where: str) -> float:
    """The number itself if it is finite in single precision."""
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise InstanceError(f"{where}: {shown} is too large or no number; expected a finite one")
    return value


def parse_whole(text: str, where: str, what: str, least: int = 0) -> int:
    """A whole number from `least` on."""
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII) or int(text) < least:
        shown = text if len(text) <= 40 else text[:40] + "…"
        raise InstanceError(
            f"{where}: {what} is `{shown}`, expected a whole number from {least} to 999999999"
        )
    return int(text)


class Converter:
    """Turns values into what a feature holds; `labels` are what the source calls the nodes."""

    def __init__(self, labels: Sequence[Hashable], where: str) -> None:
        self.index = {label: position for position, label in enumerate(labels)}
        self.labels, self.where = labels, where

    @property
    def n(self) -> int:
        return len(self.labels)

    def node(self, label: object, what: str) -> int:
        """Which node a label means."""
        plain = label
        if isinstance(label, np.ndarray | np.generic) and label.size == 1:
            plain = label.item()
        if isinstance(plain, Hashable) and plain in self.index:
            return self.index[plain]
        raise InstanceError(f"{self.where}: {what} is {plain!r}, which is no node of the graph")

    def whole(self, feature: Feature, values: object) -> Values:
        """All values of a feature, given at once and in the order of the nodes."""
        what = f"the {feature.stage} `{feature.name}`"
        if feature.type.single:
            return self._one(feature, values, what)
        if isinstance(values, Mapping):
            values = self._listed(values, what)
        array = plain_array(values)
        if feature.type.apart:
            array = self.points(array, what)
        shape = feature.shape(self.n)
        if array.shape != shape:
            raise InstanceError(
                f"{self.where}: {what} has shape {array.shape}, expected {shape} for {self.n} nodes"
            )
        return self.cells(feature, array, what)

    def points(self, values: object, what: str) -> Values:
        """Complex numbers from two coordinates each."""
        array = plain_array(values)
        if array.dtype.kind == "O" and array.ndim == 1 and not np.iscomplexobj(array):
            array = plain_array([list(pair) if isinstance(pair, tuple) else pair for pair in array])
        if array.dtype.kind == "O" and all(isinstance(z, complex) for z in array.ravel().tolist()):
            return array.astype(np.complex128)
        if array.dtype.kind not in "iuf" or array.ndim != 2 or array.shape[1] != 2:
            found = f"{array.shape}" if array.dtype.kind in "iuf" else _first(array)
            raise InstanceError(
                f"{self.where}: {what} must hold two coordinates for each node, found {found}"
            )
        return np.ascontiguousarray(array, np.float64).view(np.complex128)[:, 0]

    def _listed(self, values: Mapping[Any, Any], what: str) -> list[Any]:
        for label in self.labels:
            if label not in values:
                raise InstanceError(f"{self.where}: {what} has no value for node {label!r}")
        return [values[label] for label in self.labels]

    def _one(self, feature: Feature, values: object, what: str) -> Values:
        """One node: its label, or a truth value per node, one of them true."""
        array = plain_array(values)
        label = isinstance(values, Hashable) and values in self.index
        truths = array.shape == (self.n,) and array.dtype.kind in "biuf" and self.n > 1
        if label or not truths or not np.isin(array, (0, 1)).all():
            return np.asarray(self.node(values, what), np.int64)
        marked = np.flatnonzero(array)
        if len(marked) != 1:
            raise InstanceError(
                f"{self.where}: {what} marks {len(marked)} nodes, expected exactly one"
            )
        return np.asarray(marked[0], np.int64)

    def cells(self, feature: Feature, array: Values, what: str) -> Values:
        """Values of any shape as the feature's type: float32 numbers, truths or whole numbers."""
        kind = array.dtype.kind
        if feature.is_number and kind in feature.type.accepted:
            with np.errstate(over="ignore"):
                return array.astype(np.float32).astype(np.float64)
        if feature.type.apart:
            with np.errstate(over="ignore"):
                return array.astype(np.complex64).astype(np.complex128)
        if feature.is_truth and kind in "biuf" and np.isin(array, (0, 1)).all():
            return array.astype(np.bool_)
        if feature.categories and kind in feature.type.accepted:
            return array.astype(np.int64)
        if feature.is_number or feature.is_truth:
            wanted = feature.type.value.plural
            raise InstanceError(f"{self.where}: {what} must hold {wanted}, found {_first(array)}")
        look_up = self._category if feature.categories else self._pointer
        found = [look_up(feature, item, what) for item in array.ravel().tolist()]
        return np.array(found, np.int64).reshape(array.shape)

    def _category(self, feature: Feature, item: object, what: str) -> int:
        if isinstance(item, str) and item in feature.choices:
            return feature.choices.index(item)
        if isinstance(item, float | int) and not isinstance(item, bool) and item == int(item):
            return int(item)
        choices = ", ".join(feature.choices) or f"0 to {feature.categories - 1}"
        raise InstanceError(f"{self.where}: {what} holds {item!r}, expected one of: {choices}")

    def _pointer(self, feature: Feature, item: object, what: str) -> int:
        return self.node(item, what)


def sample(feature: Feature, labels: Sequence[Hashable]) -> str:
    """What one value of a feature can look like, for examples in messages."""
    if feature.type.apart:
        return "[0.5, 0.25]"
    if feature.is_truth and not feature.type.single:
        return "true"
    if feature.is_number:
        return "0.5"
    first = feature.choices[0] if feature.choices else 0
    label = labels[0] if labels else 0
    shown = label if isinstance(label, str | int | float) else repr(label)
    return json.dumps(first if feature.categories else shown, ensure_ascii=False)[:40]


def plain_array(values: object) -> Values:
    """An array of numbers or truths; anything else as an array of objects."""
    if hasattr(values, "detach"):  # a torch tensor, which may want a gradient
        values = values.detach().cpu()
    try:
        array = np.asarray(values)
    except ValueError:  # ragged
        array = np.asarray(values, np.object_)
    return array if array.dtype.kind in "biuf" else np.asarray(values, np.object_)


def _first(array: Values) -> str:
    """One of the values that do not fit, for a message."""
    if array.dtype != np.object_:
        return str(array.dtype)
    odd = [item for item in array.ravel().tolist() if not isinstance(item, int | float)]
    return repr(odd[0] if odd else array.ravel().tolist()[0])[:60]
