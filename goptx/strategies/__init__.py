"""Strategies that make one kernel of several; weaving is one of them."""
