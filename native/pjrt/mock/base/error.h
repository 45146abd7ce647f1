// How a call ended: as the mock keeps it (Status), and as it is handed out (PJRT_Error).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pjrt_c_api.h"

namespace framedex::mock {

struct Status {
  PJRT_Error_Code code = PJRT_Error_Code_OK;
  std::string message;
  std::vector<std::pair<std::string, std::string>> payloads = {};  // what else is known of the error, by name

  bool is_ok() const { return code == PJRT_Error_Code_OK; }
  // A new error to hand to the caller, nullptr if there is none.
  PJRT_Error* to_error() const;
};

// `message` is what users read: the runtime puts the code's name before it.
PJRT_Error* make_error(PJRT_Error_Code code, std::string message);
PJRT_Error* make_error(Status status);
// The status that an error of the mock's own holds; destroys the error.
Status take_status(PJRT_Error* error);

void add_error_functions(PJRT_Api& api);

}  // namespace framedex::mock
