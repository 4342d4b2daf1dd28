"""Policies and recipes in, files out, and back; nothing that a file brings is run."""
