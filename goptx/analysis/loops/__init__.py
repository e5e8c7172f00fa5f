"""How often loops run, as far as code and launches determine it."""
