"""What editors need: highlighting, and the answers of the language server."""
