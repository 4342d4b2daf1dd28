"""What a user asks for in, typed answers out: what `gnarl.train` and the commands both call."""
