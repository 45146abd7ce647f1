"""Calls of a conformance harness

pypjrt is a PJRT client in pure Python, without JAX. Its harness checks each function of a plug-in.
"""

import sys

from pypjrt import conform

# step: Check the plug-in given on the command line
sys.exit(conform.main(sys.argv[1:]))
