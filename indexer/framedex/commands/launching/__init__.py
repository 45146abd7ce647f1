"""Starting a program under the recorder."""
