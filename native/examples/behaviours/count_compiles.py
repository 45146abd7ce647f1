"""Counts the compilations of each line of the program, and prints the counts at exit."""

import atexit
import sys
from collections import Counter

from framedex_native.behaviour import on

compiles = Counter()


@on("PJRT_Client_Compile", "PJRT_Compile")
def count(call):
    program = call.arguments.program
    call.run()
    compiles[str(call.line), program.format] += 1


@atexit.register
def print_counts():
    for (line, form), times in compiles.most_common():
        print(f"{times:3} x {line} ({form})", file=sys.stderr)
