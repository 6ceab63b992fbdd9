"""The commands of `watchroom`, a family a file; each imports what it needs only when it runs."""
