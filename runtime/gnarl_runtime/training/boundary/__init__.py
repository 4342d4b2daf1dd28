"""A problem and its expert in, instances near a decision of that expert out."""
