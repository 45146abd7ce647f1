"""For authors of PJRT plug-ins.

- `validation/`: calls of a recording that break rules of the C API
- `conformance/`: checks of a plug-in without JAX
- `replay/`: a recording that runs again at another plug-in, and what differs
"""
