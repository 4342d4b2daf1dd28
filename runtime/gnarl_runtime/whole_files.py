"""Bytes in, a file that is there whole or not at all out."""

from gnarl_compiler.files import write_whole

__all__ = ["write_whole"]
