"""Documents that the server reads: open buffers, source files, and trace documents."""
