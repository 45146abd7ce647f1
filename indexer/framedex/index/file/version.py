"""The marks of an index of this version: SQLite's `application_id` and `user_version`.

Apart from the schema so that readers start quickly without the table definitions.
"""

APPLICATION_ID = int.from_bytes(b"fdex", "big")
VERSION = 11
