// PJRT_Error as the mock makes it.
#pragma once

#include <string>

#include "pjrt/mock/base/event.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// `message` is what users read: the runtime puts the code's name before it.
PJRT_Error* make_error(PJRT_Error_Code code, std::string message);
PJRT_Error* make_error(Status status);
// What an error of the mock's own says; the error is destroyed.
Status take_status(PJRT_Error* error);

void add_error_functions(PJRT_Api& api);

}  // namespace framedex::mock
