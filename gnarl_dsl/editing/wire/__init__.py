"""Bytes of an editor in, messages and error replies out."""
