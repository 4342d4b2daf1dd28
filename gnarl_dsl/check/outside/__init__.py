"""A line that says what somebody else brings in, a checked signature out."""
