#include "capture_reader/kept_files.h"

#include "recorder/format/content_name.h"

namespace framedex::capture {

bool is_kept_content(std::string_view name, std::string_view content) { return content_name(content) == name; }

}  // namespace framedex::capture
