"""For authors of PJRT plug-ins.

- `validation/`: calls of a recording that break rules of the C API
- `conformance/`: checks of a plug-in without JAX
- `replay/`: a recording replayed on another plug-in, and the differences
"""
