"""Small widgets, one a file; each does nothing when it is told what it already shows."""
