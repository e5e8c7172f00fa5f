"""Step 3: every branch that remains is taken by whole warps; divergent code becomes predicated code or a region."""
