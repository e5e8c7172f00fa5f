"""Address spaces, the arrays in them, races and transactions."""
