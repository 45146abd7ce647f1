"""Walk the mock's table: print its slots, and the result of each function given as an argument."""

import ctypes
import json
import sys

import jax
from pjrt_table import FUNCTIONS, Struct, Table

jax.devices()
table = Table()
answers = {}
for name in sys.argv[1:]:
    try:
        table.call(name)
        answers[name] = None
    except RuntimeError as error:
        answers[name] = error.args

# A caller of an older version passes shorter structs: their end is never exceeded.
statistics = Struct("PJRT_Device_MemoryStats_Args")
statistics["device"] = ctypes.c_void_p.from_address(
    table.call("PJRT_Client_Devices", client=table.call("PJRT_Client_Create")["client"])["devices"]
).value
statistics["struct_size"] = 40
ctypes.memset(ctypes.addressof(statistics.memory) + 40, 0xAB, len(statistics.memory) - 40)
table._enter("PJRT_Device_MemoryStats", statistics)

print(
    json.dumps(
        {
            "slots": [name for name, address in table.slots().items() if address],
            "functions": list(FUNCTIONS),
            "answers": answers,
            "written_beyond": statistics.memory.raw[40:] != b"\xab" * (len(statistics.memory) - 40),
            "devices_after": len(jax.devices()),
        }
    )
)
