"""Workspaces for generators: created without hidden bytes, verified, audited, exported."""
