"""What marks a file as an index of this version: SQLite's `application_id` and `user_version`.

Apart from the schema so that readers, which must start quickly, need nothing of what makes tables.
"""

APPLICATION_ID = int.from_bytes(b"fdex", "big")
VERSION = 10
