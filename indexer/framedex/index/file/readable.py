"""Conditions for readable frames, in SQL over functions `fn` and frames `fr`; see `model.FrameRow.is_readable`."""

CODE = "fn.role = 'code'"
READABLE = f"{CODE} AND fr.file IS NOT NULL AND fr.line > 0"
