"""A few CTAs of a launch, on data as its specification describes it."""
