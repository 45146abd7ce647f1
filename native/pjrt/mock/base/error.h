// The outcome of a call: Status inside the mock, PJRT_Error for callers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pjrt_c_api.h"

namespace framedex::mock {

struct Status {
  PJRT_Error_Code code = PJRT_Error_Code_OK;
  std::string message;
  std::vector<std::pair<std::string, std::string>> payloads = {};  // further details, by name

  bool is_ok() const { return code == PJRT_Error_Code_OK; }
  // Creates an error for the caller; nullptr for success.
  PJRT_Error* to_error() const;
};

// `message` is for users; the runtime prefixes the code's name.
PJRT_Error* make_error(PJRT_Error_Code code, std::string message);
PJRT_Error* make_error(Status status);
// Returns the status in one of the mock's own errors, and destroys the error.
Status take_status(PJRT_Error* error);

void add_error_functions(PJRT_Api& api);

}  // namespace framedex::mock
