"""A packet in, text out."""
