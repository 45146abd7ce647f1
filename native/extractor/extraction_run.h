#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "extractor/extract_file.h"

namespace framedex::extractor {

struct Request {
  std::string path;
  Language language;
};

// An extracted file, ready for the index: `sites[i]` is the text of definition i's calls.
struct FinishedFile {
  size_t index;  // index of its request
  ExtractedFile file;
  std::vector<std::string> sites;
};

// Extracts files on its own threads, which stay only a little ahead of the consumer. The destructor waits for the files
// in progress.
class ExtractionRun {
 public:
  ExtractionRun(std::shared_ptr<const Languages> languages, std::shared_ptr<const MacroTable> macros,
                std::vector<Request> requests, unsigned threads);
  ExtractionRun(const ExtractionRun&) = delete;
  ExtractionRun& operator=(const ExtractionRun&) = delete;
  ~ExtractionRun();

  bool is_done() const { return taken_ == requests_.size(); }

  // Returns the next finished file, in any order. Returns nothing if none finishes within `patience`, or if `is_done`.
  std::optional<FinishedFile> next(std::chrono::milliseconds patience);

 private:
  void work();

  const std::shared_ptr<const Languages> languages_;
  const std::shared_ptr<const MacroTable> macros_;
  const std::vector<Request> requests_;
  size_t taken_ = 0;

  std::mutex mutex_;
  std::condition_variable finished_changed_, room_changed_;
  std::deque<FinishedFile> finished_;
  size_t begun_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

// Returns the macros that all these files define.
MacroTable learn_macros(const std::vector<std::string>& paths, unsigned threads);

}  // namespace framedex::extractor
