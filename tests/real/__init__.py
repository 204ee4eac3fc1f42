"""The gate on real projects: `nox -s real`."""
