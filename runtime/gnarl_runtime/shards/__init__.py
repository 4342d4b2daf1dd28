"""A spec and a folder in; out: files of drawn and solved instances, and all of them as one pool."""
