"""native/abi is a folder of scripts: their modules are importable, as for the scripts."""

import sys

from tests.pythons import ROOT

sys.path.append(str(ROOT / "native" / "abi"))
