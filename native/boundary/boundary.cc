#include "boundary/boundary.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace framedex::boundary {
namespace {

// Removes and returns the text before the first `end`, or all of it.
std::string_view take(std::string_view& text, char end) {
  size_t at = text.find(end);
  std::string_view found = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return found;
}

void add_parameter(Boundary& boundary, std::string_view text) {
  if (text.size() < 2 || text[1] != '=') return;
  boundary.parameters.push_back({static_cast<Parameter::Kind>(text[0]), std::string(text.substr(2))});
}

// Returns nullptr for a malformed text. The boundary lives as long as the process, because trampolines refer to it.
Boundary* parse(std::string_view text) {
  auto* boundary = new Boundary;
  bool has_prototype = std::count(text.begin(), text.end(), ':') > 1;
  boundary->library = take(text, ':');
  boundary->name = take(text, ':');
  if (boundary->name.empty()) return nullptr;
  while (!text.empty()) add_parameter(*boundary, take(text, ','));
  for (const char* name : architecture::kIntegerArgumentNames) {
    if (!has_prototype) boundary->parameters.push_back({Parameter::Kind::kAny, name});
  }
  for (const Parameter& each : boundary->parameters) boundary->value_names.push_back(each.name.c_str());
  return boundary;
}

}  // namespace

bool Boundary::is_in(const char* path) const {
  if (library.empty()) return true;
  const char* slash = std::strrchr(path, '/');
  std::string file = slash == nullptr ? path : slash + 1;
  // `libz.so` also matches `libz.so.1.3`.
  return fnmatch(library.c_str(), file.c_str(), 0) == 0 || fnmatch((library + ".*").c_str(), file.c_str(), 0) == 0;
}

std::vector<Boundary*> parse_boundaries(const char* text) {
  std::vector<Boundary*> found;
  std::string_view rest = text;
  while (!rest.empty() && found.size() < kMaximumBoundaries) {
    if (Boundary* boundary = parse(take(rest, ';'))) found.push_back(boundary);
  }
  return found;
}

}  // namespace framedex::boundary
