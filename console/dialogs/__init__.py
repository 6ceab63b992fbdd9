"""The dialogs of the console, one a file."""
