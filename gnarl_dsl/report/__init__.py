"""A mistake and its place in a text in; out: words for people, records for tools."""
