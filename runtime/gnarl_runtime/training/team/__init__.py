"""Processes that train one policy together in; out: who does which share, and what all know."""
