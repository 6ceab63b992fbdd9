"""The screens of the console, one pane a file."""
