#include "replay/kept_files.h"

#include <fstream>
#include <iterator>

#include "recorder/format/content_name.h"
#include "replay/plugin.h"

namespace framedex::replay {

std::string read_kept(const std::string& folder, const char* kind, const std::string& name) {
  std::ifstream file(folder + "/" + kind + "/" + name, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open())
    throw PluginError(PJRT_Error_Code_NOT_FOUND, std::string("the capture lacks ") + kind + "/" + name);
  if (capture::content_name(bytes) != name) {
    throw PluginError(PJRT_Error_Code_NOT_FOUND, std::string("the capture's ") + kind + "/" + name + " is damaged");
  }
  return bytes;
}

}  // namespace framedex::replay
