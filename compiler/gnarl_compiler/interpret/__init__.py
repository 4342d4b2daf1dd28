"""A problem and an instance in, an episode out, pick by pick: what the language means."""
