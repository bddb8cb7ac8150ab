"""Work that can be stopped at any moment: a child process, its limits and what it has to say."""
