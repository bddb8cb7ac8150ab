"""The command line: options in, text and exit codes out. Nothing else knows about terminals."""
