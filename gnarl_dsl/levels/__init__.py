"""A checked problem and what it is used for in; out: units of its numbers, and their levels."""
