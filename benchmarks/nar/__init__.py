"""Standard neural algorithmic reasoning on our specs: what the policies are compared with."""
