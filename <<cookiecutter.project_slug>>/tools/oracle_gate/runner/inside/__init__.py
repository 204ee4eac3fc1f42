"""The part of the runner that is started inside the sandbox: standard library alone.

Nothing else of the engine is visible there. The modules import each other relatively, so that they
serve both as a package of their own and as a part of the engine.
"""
