"""Places that the compiler keeps in its programs: HLO and MLIR."""
