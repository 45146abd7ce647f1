"""Questions about recorded calls, functions and FFI targets."""
