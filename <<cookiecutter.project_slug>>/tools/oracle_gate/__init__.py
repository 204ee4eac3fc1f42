"""The gate's engine: judges a change to a repository with evidence its author could not read or write.

The floors, each importing only from those before it: core, sandbox, runner, lanes, render,
workspace, commands. Standard library, git and ssh-keygen only (design, principle 8).
"""
