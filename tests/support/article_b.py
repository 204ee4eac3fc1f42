"""Article B's own files, word for word."""

MANIFEST = b"""\
{
  "schema": "sealed-oracle-v1",
  "parent_sha_at_lock": "REPLACE_WITH_PARENT_SHA",
  "properties": [
    {"id": "p_idempotent_put", "path": "properties/p_idempotent_put.py"},
    {"id": "p_reject_empty_key", "path": "properties/p_reject_empty_key.py"}
  ],
  "fixtures": [
    {"id": "put_ok", "path": "fixtures/put_ok.bin", "sha256": ""},
    {"id": "put_empty_key", "path": "fixtures/put_empty_key.bin", "sha256": ""}
  ]
}
"""

FREEZES = b"""\
{
  "schema": "freeze-ledger-v1",
  "entries": [
    {
      "test_id": "public.test_network_retry",
      "reason": "parent flake, not patch-induced",
      "owner": "platform-ci",
      "expires_utc": "2026-09-28T00:00:00Z",
      "parent_sha": "REPLACE_WITH_PARENT_SHA",
      "max_runs_seen_flaky": 3
    }
  ]
}
"""

#: The placeholder that must not be sealed.
OR_TRUE = b"""\
def holds(fixture_bytes: bytes) -> bool:
    # Example claim: empty keys are rejected. Replace with your parser.
    if fixture_bytes.startswith(b"KEY=\\n"):
        return b"ERR_EMPTY_KEY" in fixture_bytes or True  # replace the or True
    return True
"""
