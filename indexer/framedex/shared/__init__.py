"""The file that `framedex share` writes, and how it is read where anybody may have written it: docs/sharing.md."""
