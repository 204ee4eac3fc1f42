"""The lanes: each takes the change and returns facts. Lanes know neither each other nor the policy."""
