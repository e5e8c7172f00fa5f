"""Ways to make one kernel of several, weaving among them."""
