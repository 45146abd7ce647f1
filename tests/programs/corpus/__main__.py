"""Run a program of the corpus; without a name, print the names."""

import sys

from tests.programs.corpus import programs

if len(sys.argv) > 1:
    programs()[sys.argv[1]]()
else:
    print(*programs(), sep="\n")
