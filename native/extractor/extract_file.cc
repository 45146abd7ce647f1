#include "extractor/extract_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "extractor/cpp/cpp.h"
#include "extractor/interface_files.h"

namespace framedex::extractor {
namespace {

class Descriptor {
 public:
  // Opens a file without blocking, because opening a pipe without a writer would wait forever.
  explicit Descriptor(const std::string& path) : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

int64_t read_modification_time(const struct stat& status) {
  return int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

// Waits until the clock tick of the file's modification time has passed. A later write within that tick (a few
// milliseconds) might keep both time and size, and would never be noticed. Returns false if the file keeps changing.
bool wait_until_settled(int descriptor, struct stat& status) {
  constexpr int64_t kLongest = 20'000'000;
  constexpr timespec kPause = {0, 1'000'000};
  for (int64_t waited = 0; waited < kLongest; waited += kPause.tv_nsec) {
    timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    const int64_t age = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec - read_modification_time(status);
    if (age > 0 || age < -kLongest) return true;  // a time in the future says nothing
    nanosleep(&kPause, nullptr);
    if (fstat(descriptor, &status) != 0) return false;
  }
  return false;
}

// No file has this change time, so a file marked with it is read again.
constexpr int64_t kNeverRead = 0;

std::string unreadable(int error) { return std::string("It cannot be read: ") + std::strerror(error) + "."; }

// Reads a file, at most one byte more than the size limit. On failure returns an empty text and adds a problem.
std::string read(const std::string& path, ExtractedFile& file) {
  struct stat before, after;
  const Descriptor descriptor(path);
  if (descriptor.number() < 0 || fstat(descriptor.number(), &before) != 0) {
    file.problems.push_back(unreadable(errno));
    return {};
  }
  if (!S_ISREG(before.st_mode)) {
    file.problems.push_back(S_ISDIR(before.st_mode) ? unreadable(EISDIR)
                                                    : "It cannot be read: it is not a regular file.");
    return {};
  }
  const bool is_settled = wait_until_settled(descriptor.number(), before);
  file.modified = read_modification_time(before);
  file.size = static_cast<uint64_t>(before.st_size);
  // The size may have changed; reading stops at the end of the file.
  std::string text(std::min<size_t>(file.size, kMaxFileSize) + 1, '\0');
  size_t length = 0;
  while (length < text.size()) {
    const ssize_t count = ::read(descriptor.number(), text.data() + length, text.size() - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      file.problems.push_back(unreadable(errno));
      file.modified = kNeverRead;
      return {};
    }
    if (count == 0) break;
    length += static_cast<size_t>(count);
    if (length == text.size() && length <= kMaxFileSize) text.resize(std::min(2 * length, kMaxFileSize + 1));
  }
  text.resize(length);
  if (!is_settled || fstat(descriptor.number(), &after) != 0 ||
      read_modification_time(before) != read_modification_time(after) || before.st_size != after.st_size) {
    file.problems.push_back("It changed while it was read; index it again.");
    file.modified = kNeverRead;
  }
  return text;
}

// Returns the position of the first byte that is not UTF-8; npos if there is none. tree-sitter treats ill-formed bytes
// as characters, so such a file is still parsed.
size_t ill_formed(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || i + length > text.size()) return i;
    uint32_t code = lead & (0x7F >> length);
    for (size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0) != 0x80) return i;
      code = code << 6 | (next & 0x3F);
    }
    static constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kLeast[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return i;
    i += length;
  }
  return std::string_view::npos;
}

// A hash like FNV-1a over eight bytes at a time, to detect changes of a file.
uint64_t hash(std::string_view text) {
  uint64_t value = 0xcbf29ce484222325u ^ text.size();
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    value = (value ^ word) * 0x9e3779b97f4a7c15u;
    value ^= value >> 32;
  }
  for (; i < text.size(); ++i) value = (value ^ static_cast<unsigned char>(text[i])) * 0x100000001b3u;
  return value;
}

Extraction extract(const Languages& languages, std::string_view text, const std::string& path, Language language,
                   const MacroTable& macros, Workspace& workspace) {
  switch (language) {
    case Language::kPython:
      return extract_python(languages.python, text, workspace);
    case Language::kProto:
      return extract_proto(text);
    case Language::kTableGen:
      return extract_tablegen(text);
    case Language::kCpp:
      break;
  }
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  return extract_cpp(languages.cpp, text, name, macros, workspace);
}

}  // namespace

ExtractedFile extract_file(const Languages& languages, const std::string& path, Language language,
                           const MacroTable& macros, Workspace& workspace) {
  ExtractedFile file;
  const std::string text = read(path, file);
  if (text.size() > kMaxFileSize) {
    file.problems.push_back("It is larger than " + std::to_string(kMaxFileSize >> 20) + " MiB and was not parsed.");
    return file;
  }
  file.content = hash(text);
  if (text.find('\0') != std::string::npos) {
    file.problems.push_back("It is a binary file and was not parsed.");
    return file;
  }
  if (const size_t at = ill_formed(text); at != std::string::npos) {
    file.problems.push_back("It is not valid UTF-8 (first at byte " + std::to_string(at) +
                            "). Names in it may be garbled.");
  }
  try {
    Extraction found = extract(languages, text, path, language, macros, workspace);
    file.definitions = std::move(found.definitions);
    file.errors = found.errors;
  } catch (const std::exception& error) {
    file.problems.push_back("It cannot be parsed: " + std::string(error.what()) + ".");
  }
  return file;
}

void learn_macros(const std::string& path, MacroTable& macros) {
  ExtractedFile file;
  const std::string text = read(path, file);
  if (text.size() <= kMaxFileSize) macros.learn(text);
}

}  // namespace framedex::extractor
