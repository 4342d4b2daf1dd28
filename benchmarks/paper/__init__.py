"""The paper's tables as data in, runs and pages with our figures beside the published ones out."""
