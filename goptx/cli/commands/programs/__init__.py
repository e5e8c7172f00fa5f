"""Commands for the launches of a whole program."""
