"""Results as HTML, for notebooks and pages."""
