#include "recorder/settings.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "recorder/base/json.h"

namespace framedex::recorder {
namespace {

// Variables of framedex, then of JAX, Slurm, Kubernetes, Cloud TPU and MPI launchers.
constexpr std::array kJobVariables = {
    "FRAMEDEX_JOB",
    "FRAMEDEX_RANK",
    "JAX_PROCESS_ID",
    "JAX_NUM_PROCESSES",
    "SLURM_JOB_ID",
    "SLURM_JOB_NAME",
    "SLURM_STEP_ID",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "JOBSET_NAME",
    "JOB_NAME",
    "JOB_COMPLETION_INDEX",
    "TPU_WORKER_ID",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "PMIX_NAMESPACE",
    "PMIX_RANK",
    "PMI_JOBID",
    "PMI_RANK",
    "PMI_SIZE",
};
// Writing a larger program would delay its compilation too much.
constexpr size_t kLargestProgram = size_t{32} << 20;     // bytes
constexpr uint64_t kMostPrograms = uint64_t{256} << 20;  // bytes in a capture
constexpr size_t kLargestSource = size_t{1} << 20;       // bytes; larger source files are generated
constexpr uint64_t kMostSources = uint64_t{64} << 20;    // bytes in a capture
constexpr uint64_t kMostContents = uint64_t{1} << 30;    // bytes in a capture
constexpr uint64_t kFlightLimit = uint64_t{64} << 20;    // bytes
constexpr size_t kLongestJobValue = 1024;                // bytes

std::string text(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::vector<std::string> list(const char* name) {
  std::istringstream stream(text(name));
  std::vector<std::string> items;
  for (std::string item; std::getline(stream, item, ',');) {
    if (!item.empty()) items.push_back(item);
  }
  return items;
}

uint64_t number(const char* name, uint64_t fallback) {
  std::string value = text(name);
  if (value.empty()) return fallback;
  char* end = nullptr;
  errno = 0;
  uint64_t result = std::strtoull(value.c_str(), &end, 10);
  if (errno != 0 || *end != '\0' || value[0] == '-' || result == 0) {
    throw std::runtime_error(std::string(name) + "=" + value + " is not a positive whole number.");
  }
  return result;
}

Contents chosen_contents() {
  std::string choice = text("FRAMEDEX_CONTENTS");
  if (choice.empty()) return Contents::kNone;
  if (choice == "inputs") return Contents::kSent;
  if (choice == "hash") return Contents::kHash;
  if (choice == "all") return Contents::kAll;
  throw std::runtime_error("FRAMEDEX_CONTENTS=" + choice + " is not inputs, hash or all.");
}

bool matches(const std::vector<std::string>& patterns, const char* function) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return fnmatch(pattern.c_str(), function, 0) == 0; });
}

}  // namespace

Settings Settings::from_environment() {
  Settings settings;
  settings.include = list("FRAMEDEX_INCLUDE");
  settings.exclude = list("FRAMEDEX_EXCLUDE");
  settings.sample = number("FRAMEDEX_SAMPLE", 1);
  settings.flight = text("FRAMEDEX_FLIGHT") == "1";
  settings.limit = number("FRAMEDEX_LIMIT", settings.flight ? kFlightLimit : 0);
  settings.ring = settings.flight || text("FRAMEDEX_RING") == "1";
  settings.crashes = text("FRAMEDEX_ON_CRASH") != "0";
  settings.programs = text("FRAMEDEX_PROGRAMS") != "0";
  settings.sources = text("FRAMEDEX_SOURCES") != "0";
  settings.contents = chosen_contents();
  settings.contents_limit = number("FRAMEDEX_CONTENTS_LIMIT", kMostContents);
  settings.verify = text("FRAMEDEX_VERIFY") == "1";
  if (settings.ring && settings.limit == 0) {
    throw std::runtime_error("FRAMEDEX_RING=1 needs a size: set FRAMEDEX_LIMIT to a number of bytes.");
  }
  return settings;
}

Treatment Settings::treatment_of(const Function& function) const {
  bool is_included = (include.empty() || matches(include, function.name)) && !matches(exclude, function.name);
  if (!is_included) return Treatment::kIgnored;
  return flight && function.is_counted_in_flight ? Treatment::kCounted : Treatment::kRecorded;
}

FileStoreLimits Settings::program_limits() const {
  return {kLargestProgram, programs ? limit_size(kMostPrograms) : 0, "FRAMEDEX_PROGRAMS=0"};
}

FileStoreLimits Settings::source_limits() const {
  return {kLargestSource, sources ? limit_size(kMostSources) : 0, "FRAMEDEX_SOURCES=0"};
}

FileStoreLimits Settings::content_limits() const {
  // The name of a content has room for a size of 32 bits.
  return {static_cast<size_t>(std::min<uint64_t>(contents_limit, UINT32_MAX)), contents_limit, ""};
}

uint64_t Settings::limit_size(uint64_t bytes) const { return limit == 0 ? bytes : std::min(limit, bytes); }

std::vector<std::string> Settings::selecting() const {
  std::vector<std::string> names;
  if (!include.empty()) names.push_back("FRAMEDEX_INCLUDE");
  if (!exclude.empty()) names.push_back("FRAMEDEX_EXCLUDE");
  if (sample > 1) names.push_back("FRAMEDEX_SAMPLE");
  if (ring) names.push_back(flight ? "FRAMEDEX_FLIGHT" : "FRAMEDEX_RING");
  return names;
}

std::string captures_from_environment() {
  std::string record = text("FRAMEDEX_RECORD");
  std::string captures = text("FRAMEDEX_OUT");
  if (record == "0" || (record.empty() && captures.empty())) return {};
  return captures.empty() ? ".framedex/captures" : captures;
}

std::string job_from_environment() {
  JsonObject found;
  for (const char* name : kJobVariables) {
    std::string value = text(name);
    if (!value.empty() && value.size() <= kLongestJobValue) found.text(name, value);
  }
  return found.finish();
}

}  // namespace framedex::recorder
