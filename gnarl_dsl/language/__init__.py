"""Nothing in; out: every name that a spec may use without declaring it, and what numbers do."""
