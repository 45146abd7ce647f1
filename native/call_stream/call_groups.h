// Groups of calls without Python that have the same candidates: the threads that may have caused them.
//
// A link is often decided late: a thread may pause until the program ends. So calls are stored as differences of their
// rows, a byte or two each, and calls with the same candidates share one group.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "call_stream/work_tracker.h"

namespace framedex::call_stream {

inline constexpr uint64_t kNoRow = ~uint64_t{0};

// A period without calls of a Python thread, between two calls whose stacks share a chain of frames.
struct CallGap {
  uint32_t thread;
  uint32_t chain;
  bool is_one_line;   // the thread stayed in the native call of the first one
  uint64_t next_row;  // the row of the second call; kNoRow once no link depends on it

  bool operator<(const CallGap& other) const { return key() < other.key(); }

 private:
  std::tuple<uint32_t, uint32_t, bool, uint64_t> key() const { return {thread, chain, is_one_line, next_row}; }
};

// The Python threads that may have caused some calls.
struct LinkCandidates {
  WorkId piece = kNoWork;        // the piece of work that contains the calls
  bool is_destruction = false;   // a thread waits for a destruction only if it receives an object of the piece
  std::vector<CallGap> pauses;   // pauses around the calls, by thread
  std::vector<uint32_t> paused;  // threads without a later call so far, in ascending order

  bool operator<(const LinkCandidates& other) const { return key() < other.key(); }
  // Whether no later event can change it.
  bool is_decided() const { return piece == kNoWork && paused.empty(); }
  // Whether no thread can have caused the calls.
  bool is_empty() const { return (pauses.empty() && paused.empty()) || (piece == kNoWork && is_destruction); }

 private:
  std::tuple<WorkId, bool, const std::vector<CallGap>&, const std::vector<uint32_t>&> key() const {
    return {piece, is_destruction, pauses, paused};
  }
};

// Rows of calls, each stored as the difference from the previous one.
class Rows {
 public:
  void add(uint64_t row);
  void add(const Rows& others) {
    others.each([this](uint64_t row) { add(row); });
  }
  template <typename Use>
  void each(Use use) const {
    uint64_t row = 0;
    for (size_t at = 0; at < bytes_.size();) use(row += next(&at));
  }

 private:
  uint64_t next(size_t* at) const;

  std::string bytes_;
  uint64_t last_ = 0;
};

class CallGroups {
 public:
  struct Group {
    LinkCandidates candidates;
    Rows rows;
  };

  // Adds calls to the group with these candidates.
  void add(LinkCandidates candidates, const Rows& rows);
  // Remove and return groups: those that wait for a call of the thread; those with a pause that ended at the latest
  // call of the thread; those of the piece; or all.
  std::vector<Group> take_waiting_for(uint32_t thread);
  std::vector<Group> take_ended_by(uint32_t thread);
  std::vector<Group> take_piece(WorkId piece);
  std::vector<Group> take_all();

 private:
  using GroupIterator = std::map<LinkCandidates, Rows>::iterator;
  template <typename Key>
  using GroupIndex = std::map<Key, std::map<const void*, GroupIterator>>;

  template <typename Key>
  std::vector<Group> take(GroupIndex<Key>* index, Key key);
  Group take(GroupIterator group);

  std::map<LinkCandidates, Rows> groups_;
  GroupIndex<uint32_t> by_waiting_thread_;  // by thread
  GroupIndex<uint32_t> by_paused_thread_;   // by thread
  GroupIndex<WorkId> by_piece_;
};

}  // namespace framedex::call_stream
