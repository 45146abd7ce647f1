// Builds a capture folder from a fuzzer's input.
#pragma once

#include <string>

#include "fuzz/input.h"

namespace framedex::fuzz {

// Writes streams with valid headers, marks and checks, so that mutations affect the records. The input is a sequence of
// items, each with a leading type byte. tests/fuzz/capture_folder.py writes and reads the same form:
//
// - 0 NAME STOPS CLOCK: a new stream, process.fdx or a thread's by NAME; bits of stop_reasons; the unit of its times,
//   and its version: 1 if the second bit is set, else 3 if the third is, else 2
// - 1 KIND SIZE BODY: a record; SIZE has two bytes. In version 3 KIND DETAIL SIZE BODY
// - 2 SIZE BYTES: bytes outside records
// - 3: the rest of the segment stays empty
// - 4: the stream ends here, within its segment
// - 5 PLACE BYTE: replaces one byte of the stream; PLACE has three bytes, counted from the end
class CaptureFolder {
 public:
  explicit CaptureFolder(std::string path) : path_(std::move(path)) {}

  // Replaces the streams of the folder.
  void write(Input input);
  // Replaces its tables of open calls by tables for all threads, with valid checks for most calls.
  void write_open_calls(Input input);
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace framedex::fuzz
