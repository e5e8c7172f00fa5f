"""Charts of numbers, drawn by matplotlib (`pip install 'goptx[charts]'`)."""
