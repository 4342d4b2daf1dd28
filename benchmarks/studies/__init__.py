"""Questions beside the paper's tables in, a page of docs/results each out."""
