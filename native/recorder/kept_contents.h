// The contents of buffers in a capture: what a program sends to devices and reads back. See
// docs/reference/capture-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "recorder/arguments.h"
#include "recorder/base/export.h"
#include "recorder/kept_files.h"

namespace framedex::recorder {

// FRAMEDEX_CONTENTS: the contents to keep. Each choice includes the previous ones, except that kHash records only the
// content names of reads.
enum class Contents : int { kNone, kSent, kHash, kAll };

// The contents that the current recording keeps; kNone without a recording. Read by each transfer.
FRAMEDEX_EXPORT Contents kept_contents() noexcept;
// The largest content that can be kept, in bytes.
FRAMEDEX_EXPORT size_t largest_content() noexcept;

// Keeps bytes that the program sends to a device, and writes their file name or the reason why they were not kept.
FRAMEDEX_EXPORT void keep_sent(ArgumentWriter& writer, uint16_t field, const char* bytes, size_t size) noexcept;
// Begins a read, and returns its number, which is unique in this process and an argument of keep_read().
FRAMEDEX_EXPORT uint64_t begin_read() noexcept;
// Describes the content of a read in the capture, and keeps the content if the recording keeps reads.
FRAMEDEX_EXPORT void keep_read(uint64_t read, const char* bytes, size_t size) noexcept;

// The contents of one capture. Thread-safe.
class ContentStore {
 public:
  ContentStore(const std::string& folder, Contents choice, FileStoreLimits limits)
      : files_(folder, capture::kBuffers, limits), choice_(choice), largest_(limits.largest) {}

  Contents choice() const { return choice_; }
  size_t largest() const { return largest_; }
  // Returns the file name, or a sentence that begins with capture::kNotKept.
  std::string keep_sent(std::string_view content) { return files_.store(content); }
  // Returns the description of a read as JSON.
  std::string describe_read(uint64_t read, std::string_view content);

 private:
  FileStore files_;
  Contents choice_;
  size_t largest_;
};

}  // namespace framedex::recorder
