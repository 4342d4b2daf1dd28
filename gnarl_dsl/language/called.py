"""A problem and the name of a function in, the signature that a call of it means out."""

from __future__ import annotations

from gnarl_dsl.language.registered import FUNCTIONS
from gnarl_dsl.language.signatures import FunctionSignature, function_of
from gnarl_dsl.model import Problem


def signature_called(problem: Problem, name: str) -> FunctionSignature:
    """What the spec declares comes before what is registered."""
    declared = problem.extern(name)
    return FUNCTIONS[name] if declared is None else function_of(declared)
