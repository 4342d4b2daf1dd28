"""A problem and a name in, the algorithm, family or source that it means out, brought or not."""
