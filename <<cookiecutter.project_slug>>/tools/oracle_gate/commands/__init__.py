"""One module a command: the only place that wires the floors together."""
