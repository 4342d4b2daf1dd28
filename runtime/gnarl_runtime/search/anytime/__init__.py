"""An episode per instance in, better ones out, for as long as is asked."""
