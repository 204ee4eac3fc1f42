"""Helpers that the tests, the demo and the benchmarks share."""
