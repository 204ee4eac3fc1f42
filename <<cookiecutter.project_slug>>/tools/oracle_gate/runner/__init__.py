"""Runs the rows of a corpus in trees: a pool of workers, each with its own tree and scratch."""
