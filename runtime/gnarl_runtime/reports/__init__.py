"""A trained policy and its run in, everything worth telling of it out: HTML and Markdown."""
