"""A source of choices in, small random specs out, and instances to play them on."""
