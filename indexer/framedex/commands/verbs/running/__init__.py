"""Questions about a process or a job that runs."""
