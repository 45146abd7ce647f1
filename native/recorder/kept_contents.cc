#include "recorder/kept_contents.h"

#include "recorder/base/json.h"
#include "recorder/format/capture_format.h"
#include "recorder/format/content_name.h"

namespace framedex::recorder {

std::string ContentStore::describe_read(uint64_t read, std::string_view content) {
  JsonObject description;
  description.number("read", read);
  std::string kept = choice_ == Contents::kAll ? files_.store(content) : std::string();
  bool is_kept = !kept.empty() && kept.rfind(capture::kNotKept, 0) != 0;
  description.text("content", is_kept ? kept : capture::content_name(content));
  if (!kept.empty()) description.text("kept", kept);
  return description.finish();
}

}  // namespace framedex::recorder
