"""Other libraries, each in an environment of its own: asked by lines of JSON, in turns."""
