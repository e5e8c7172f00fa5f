"""Step 6: the merged flow becomes the body of an entry, in a module with its symbols, source lines and report."""
