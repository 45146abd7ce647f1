"""What a conformance harness calls

pypjrt is a client of PJRT in pure Python, without JAX. Its harness checks a plug-in function by function.
"""

import sys

from pypjrt import conform

# step: Check the plug-in that the command line names
sys.exit(conform.main(sys.argv[1:]))
