"""Arguments of a command that several processes share in; out: its work, and an exit code."""
