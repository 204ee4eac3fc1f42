"""Metamorphic relations of this project: identities between runs of the program.

A relation does not state an expected output; it says how two outputs belong together, such as
formatting a formatted document changes nothing. Whoever writes changes must not see this file.
"""
