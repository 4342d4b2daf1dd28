"""Three answers in, the text of a first spec of one's own out: `gnarl-new`."""
