"""Source locations in compiler output: HLO and MLIR."""
