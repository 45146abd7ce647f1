#include "recorder/kept_programs.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "recorder/format/capture_format.h"
#include "recorder/format/program_name.h"
#include "recorder/process/whole_file.h"

namespace framedex::recorder {
namespace {

std::string not_kept(const std::string& why) { return std::string(capture::kNotKept) + why; }

}  // namespace

std::string KeptPrograms::keep(std::string_view program) {
  if (is_off_) return not_kept("FRAMEDEX_PROGRAMS=0");
  if (program.size() > kLargest) return not_kept(std::to_string(program.size()) + " bytes are too many");
  std::string name = capture::program_name(program);
  std::lock_guard lock(mutex_);
  if (names_.count(name) != 0) return name;
  if (program.size() > left_) return not_kept("the programs before it took all the space there is for them");
  std::string folder = folder_ + capture::kPrograms;
  bool is_there = mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST;
  if (!is_there || !write_whole_file(folder + "/" + name, program)) return not_kept(std::strerror(errno));
  left_ -= program.size();
  names_.insert(name);
  return name;
}

}  // namespace framedex::recorder
