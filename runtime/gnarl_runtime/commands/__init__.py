"""Arguments of a command line in, output and an exit code out: every command."""
