"""Step 5: the instructions of each merged block are scheduled."""
