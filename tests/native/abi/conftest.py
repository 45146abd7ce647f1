"""native/abi is a folder of scripts: their modules are found beside them, as the scripts find them."""

import sys

from tests.pythons import ROOT

sys.path.append(str(ROOT / "native" / "abi"))
