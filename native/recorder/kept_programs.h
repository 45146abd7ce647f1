// The programs that are compiled while a capture is recorded, kept in files beside its streams: which lines a program
// came from is read out of them when the capture is indexed. See docs/capture-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

namespace framedex::recorder {

// Keeps each program once, however often it is compiled. May be used by several threads.
class KeptPrograms {
 public:
  // Bytes of one program: what is larger takes longer to write than a compilation should be held up.
  static constexpr size_t kLargest = size_t{32} << 20;
  // Bytes of all programs of a capture.
  static constexpr uint64_t kMost = uint64_t{256} << 20;

  // In the capture's `folder`, at most `most` bytes of programs, none if that is 0.
  KeptPrograms(const std::string& folder, uint64_t most) : folder_(folder + "/"), left_(most), is_off_(most == 0) {}

  // The name of the program in the capture's folder of programs; a sentence beginning with capture::kNotKept if it is
  // not there.
  std::string keep(std::string_view program);

 private:
  std::string folder_;
  std::mutex mutex_;  // of what follows
  uint64_t left_;     // bytes that may still be written
  bool is_off_;
  std::unordered_set<std::string> names_;
};

}  // namespace framedex::recorder
