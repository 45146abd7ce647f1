"""For authors of PJRT plug-ins: conformance, and captures that run again."""
