// The mapped segments of stream files, made ready by a thread of their own: page faults and unmapping are the
// expensive part of writing, and the recorded threads should not wait for them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace framedex::recorder {

// A file that grows by segments. Owned by its stream and by the work still to be done on it. Open only while a segment
// is mapped: file descriptors are the program's.
class SegmentFile {
 public:
  // Creates `PATH.new`, which publish() calls `path`: readers see no file without its header. nullptr with errno set if
  // it cannot be made.
  static std::shared_ptr<SegmentFile> create(const std::string& path);
  bool publish();
  // Removes the file again, without touching errno.
  void discard() const;
  explicit SegmentFile(std::string path) : path_(std::move(path)) {}
  ~SegmentFile();
  SegmentFile(const SegmentFile&) = delete;
  SegmentFile& operator=(const SegmentFile&) = delete;

  // Maps the segment at a file offset, with space on the disk behind it; nullptr with errno set if there is none.
  char* map(size_t offset) const;

 private:
  friend class SegmentSupplier;
  std::string path_;
  // Guarded by the supplier's mutex: the segment that is ready, and where in the file.
  char* ready_ = nullptr;
  size_t ready_offset_ = 0;
};

void unmap_segment(char* segment);

class SegmentSupplier {
 public:
  // The process's own, with its thread running. Leaked, like everything that calls at exit may still need.
  static SegmentSupplier& instance();
  // After a fork, in the child: the parent's thread is not there.
  static void forget_in_child();

  // Makes the segment at `offset` ready in the background.
  void prepare(std::shared_ptr<SegmentFile> file, size_t offset);
  // The segment at `offset` if it is ready, else nullptr.
  char* take(SegmentFile& file, size_t offset);
  // Unmaps in the background.
  void retire(char* segment);

 private:
  struct Job {
    std::shared_ptr<SegmentFile> file;  // nullptr: unmap `segment`
    size_t offset = 0;
    char* segment = nullptr;
  };

  SegmentSupplier();
  void add(Job job);
  void work();
  void run(Job& job);

  std::mutex mutex_;
  std::condition_variable has_jobs_;
  std::deque<Job> jobs_;
};

}  // namespace framedex::recorder
