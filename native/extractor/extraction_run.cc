#include "extractor/extraction_run.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "extractor/sites_text.h"

namespace framedex::extractor {
namespace {

constexpr size_t kAhead = 256;  // finished files that nobody has taken yet

}  // namespace

ExtractionRun::ExtractionRun(std::shared_ptr<const Languages> languages, std::shared_ptr<const MacroTable> macros,
                             std::vector<Request> requests, unsigned threads)
    : languages_(std::move(languages)), macros_(std::move(macros)), requests_(std::move(requests)) {
  const size_t count = std::min<size_t>(std::max(threads, 1u), requests_.size());
  for (size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
}

ExtractionRun::~ExtractionRun() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  room_changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::optional<FinishedFile> ExtractionRun::next(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (!finished_changed_.wait_for(lock, patience, [this] { return !finished_.empty() || is_done(); }) || is_done()) {
    return std::nullopt;
  }
  FinishedFile file = std::move(finished_.front());
  finished_.pop_front();
  ++taken_;
  room_changed_.notify_one();
  return file;
}

void ExtractionRun::work() {
  Workspace workspace;
  while (true) {
    size_t index;
    {
      std::unique_lock lock(mutex_);
      room_changed_.wait(lock, [this] { return stopped_ || finished_.size() < kAhead; });
      if (stopped_ || begun_ == requests_.size()) return;
      index = begun_++;
    }
    const Request& request = requests_[index];
    FinishedFile finished{index, extract_file(*languages_, request.path, request.language, *macros_, workspace), {}};
    for (Definition& definition : finished.file.definitions) {
      finished.sites.push_back(format_sites(definition.calls));
      definition.calls = {};
    }
    {
      const std::lock_guard lock(mutex_);
      finished_.push_back(std::move(finished));
    }
    finished_changed_.notify_one();
  }
}

MacroTable learn_macros(const std::vector<std::string>& paths, unsigned threads) {
  std::vector<MacroTable> learnt(std::max(threads, 1u));
  std::atomic<size_t> next{0};
  const auto work = [&](MacroTable& table) {
    for (size_t i = next++; i < paths.size(); i = next++) learn_macros(paths[i], table);
  };
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < learnt.size(); ++i) helpers.emplace_back(work, std::ref(learnt[i]));
  work(learnt[0]);
  for (std::thread& helper : helpers) helper.join();
  for (size_t i = 1; i < learnt.size(); ++i) learnt[0].merge(learnt[i]);
  return std::move(learnt[0]);
}

}  // namespace framedex::extractor
