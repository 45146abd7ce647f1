#include "recorder/kept_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "recorder/format/capture_format.h"
#include "recorder/format/content_name.h"
#include "recorder/process/whole_file.h"

namespace framedex::recorder {
namespace {

std::string not_kept(const std::string& why) { return std::string(capture::kNotKept) + why; }

}  // namespace

std::string FileStore::store(std::string_view content) {
  if (limits_.total == 0) return not_kept(limits_.reason);
  if (content.size() > limits_.largest) return not_kept(std::to_string(content.size()) + " bytes are too many");
  std::string name = capture::content_name(content);
  std::lock_guard lock(mutex_);
  if (names_.count(name) != 0) return name;
  if (content.size() > left_) return not_kept("earlier files took all the space that is allowed");
  bool is_there = mkdir(folder_.c_str(), 0755) == 0 || errno == EEXIST;
  if (!is_there || !write_whole_file(folder_ + "/" + name, content)) return not_kept(std::strerror(errno));
  left_ -= content.size();
  names_.insert(name);
  return name;
}

}  // namespace framedex::recorder
