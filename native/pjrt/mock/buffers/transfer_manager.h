// Buffers that are created first and filled piece by piece (PJRT_AsyncHostToDeviceTransferManager).
#pragma once

#include "pjrt_c_api.h"

namespace framedex::mock {

void add_transfer_manager_functions(PJRT_Api& api);

}  // namespace framedex::mock
