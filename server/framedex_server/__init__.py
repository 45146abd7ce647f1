"""framedex's language server: what was recorded under a line, in every editor that speaks LSP.

`server.main()` runs it over stdio; one file under `features/` per LSP feature.
"""
