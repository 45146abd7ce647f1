#include "capture_reader/kept_programs.h"

#include "recorder/format/program_name.h"

namespace framedex::capture {

bool is_kept_program(std::string_view name, std::string_view program) { return program_name(program) == name; }

}  // namespace framedex::capture
