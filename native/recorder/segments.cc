#include "recorder/segments.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <thread>
#include <utility>

#include "recorder/capture_format.h"

namespace framedex::recorder {

using capture::kSegmentSize;

namespace {

constexpr size_t kPageSize = 4096;
constexpr std::string_view kUnfinished = ".new";

std::atomic<SegmentSupplier*> supplier{nullptr};

// Faults every page in for writing. The segment is not in use yet, and zero.
void populate(char* segment) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(segment, kSegmentSize, MADV_POPULATE_WRITE) == 0) return;
#endif
  for (size_t page = 0; page < kSegmentSize; page += kPageSize) const_cast<volatile char*>(segment)[page] = 0;
}

// Whether the process may make a file so long. One that is longer ends a program that has not SIGXFSZ ignored.
bool may_reach(size_t size) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

// Threads inherit the mask: a signal sent to the process must go to one of the program's own.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

std::shared_ptr<SegmentFile> SegmentFile::create(const std::string& path) {
  std::string unfinished = path;
  unfinished += kUnfinished;
  int file = open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return nullptr;
  close(file);
  return std::make_shared<SegmentFile>(std::move(unfinished));
}

bool SegmentFile::publish() {
  std::string path = path_.substr(0, path_.size() - kUnfinished.size());
  if (rename(path_.c_str(), path.c_str()) != 0) return false;
  path_ = std::move(path);
  return true;
}

void SegmentFile::discard() const {
  int error = errno;
  unlink(path_.c_str());
  errno = error;
}

SegmentFile::~SegmentFile() {
  if (ready_ != nullptr) unmap_segment(ready_);
}

char* SegmentFile::map(size_t offset) const {
  int file = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* segment = MAP_FAILED;
  // Space on the disk, not only in the file's length: writing into a hole of a full disk is a SIGBUS.
  int error = EFBIG;
  if (may_reach(offset + kSegmentSize)) error = posix_fallocate(file, static_cast<off_t>(offset), kSegmentSize);
  if (error == 0) {
    segment = mmap(nullptr, kSegmentSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
    error = errno;
  }
  close(file);
  errno = error;
  return segment == MAP_FAILED ? nullptr : static_cast<char*>(segment);
}

void unmap_segment(char* segment) { munmap(segment, kSegmentSize); }

SegmentSupplier& SegmentSupplier::instance() {
  SegmentSupplier* current = supplier.load(std::memory_order_acquire);
  if (current != nullptr) return *current;
  static std::mutex creation;
  std::lock_guard lock(creation);
  if (supplier.load() == nullptr) supplier.store(new SegmentSupplier, std::memory_order_release);
  return *supplier.load();
}

void SegmentSupplier::forget_in_child() { supplier.store(nullptr); }

SegmentSupplier::SegmentSupplier() {
  AllSignalsBlocked scope;
  std::thread thread([this] { work(); });
  pthread_setname_np(thread.native_handle(), "framedex");
  thread.detach();
}

void SegmentSupplier::prepare(std::shared_ptr<SegmentFile> file, size_t offset) {
  add({std::move(file), offset, nullptr});
}

char* SegmentSupplier::take(SegmentFile& file, size_t offset) {
  std::lock_guard lock(mutex_);
  if (file.ready_ == nullptr || file.ready_offset_ != offset) return nullptr;
  return std::exchange(file.ready_, nullptr);
}

void SegmentSupplier::retire(char* segment) { add({nullptr, 0, segment}); }

void SegmentSupplier::add(Job job) {
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  has_jobs_.notify_one();
}

void SegmentSupplier::work() {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      has_jobs_.wait(lock, [this] { return !jobs_.empty(); });
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    run(job);
  }
}

void SegmentSupplier::run(Job& job) {
  if (job.file == nullptr) return unmap_segment(job.segment);
  char* segment = job.file->map(job.offset);
  // Without space the stream will find out by itself, and stop with the reason.
  if (segment == nullptr) return;
  populate(segment);
  std::lock_guard lock(mutex_);
  std::swap(job.file->ready_, segment);
  job.file->ready_offset_ = job.offset;
  if (segment != nullptr) unmap_segment(segment);
}

}  // namespace framedex::recorder
