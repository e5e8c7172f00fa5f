"""The laws of passes: what holds of the value that each pass makes."""
