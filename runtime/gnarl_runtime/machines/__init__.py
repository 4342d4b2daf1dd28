"""Questions of programs that write specs in, answers within limits out: `gnarl-mcp`."""
