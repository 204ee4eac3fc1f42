"""Files, git objects, canonical form, facts and policy: what a verdict is made of. No process of a patch runs here."""
