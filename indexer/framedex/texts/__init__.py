"""Text about recordings, for the command line, the server, reports and exports.

One module per subject: `calls.py`, `captures.py`, `compilations.py`, `costs.py`, `errors.py`, `places.py`,
`startup.py`, `traces.py`.
"""
