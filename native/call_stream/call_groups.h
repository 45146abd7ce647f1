// Groups of calls without Python that share a fate: the possible callers found so far, and the events they wait for.
//
// A link is often decided late: a thread may pause until the program ends. So calls are stored as differences of their
// rows, a byte or two each, and calls with the same fate share one group.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "call_stream/work_pieces.h"

namespace framedex::call_stream {

inline constexpr uint64_t kNoRow = ~uint64_t{0};

// A time in which a thread with Python made no calls, between two calls whose stacks share a chain of frames.
struct CallGap {
  uint32_t thread;
  uint32_t chain;
  bool is_one_line;  // the thread stayed in the native call of the first one
  uint64_t after;    // the row of the second call; kNoRow once nothing depends on it

  bool operator<(const CallGap& other) const { return key() < other.key(); }

 private:
  std::tuple<uint32_t, uint32_t, bool, uint64_t> key() const { return {thread, chain, is_one_line, after}; }
};

struct CallGroup {
  Piece piece = kNoPiece;        // the piece of the calls
  bool is_destruction = false;   // only waited for if a thread is given an object that they worked on
  std::vector<CallGap> pauses;   // pauses around the calls, by thread
  std::vector<uint32_t> paused;  // threads without a later call so far, in ascending order

  bool operator<(const CallGroup& other) const { return key() < other.key(); }
  // Whether no later event can change it.
  bool is_decided() const { return piece == kNoPiece && paused.empty(); }
  // Whether no thread can have caused the calls.
  bool is_hopeless() const { return (pauses.empty() && paused.empty()) || (piece == kNoPiece && is_destruction); }

 private:
  std::tuple<Piece, bool, const std::vector<CallGap>&, const std::vector<uint32_t>&> key() const {
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
    CallGroup fate;
    Rows rows;
  };

  // Adds calls to the group of their fate.
  void add(CallGroup fate, const Rows& rows);
  // Remove and return groups: those that wait for a call of the thread; those with a pause that ended at its latest
  // call; those of the piece; or all.
  std::vector<Group> take_waiting_for(uint32_t thread);
  std::vector<Group> take_ended_by(uint32_t thread);
  std::vector<Group> take_of(Piece piece);
  std::vector<Group> take_all();

 private:
  using Place = std::map<CallGroup, Rows>::iterator;
  template <typename Key>
  using Places = std::map<Key, std::map<const void*, Place>>;

  template <typename Key>
  std::vector<Group> take(Places<Key>* places, Key key);
  Group take(Place place);

  std::map<CallGroup, Rows> groups_;
  Places<uint32_t> of_waiting_;  // by thread
  Places<uint32_t> of_ended_;    // by thread
  Places<Piece> of_piece_;
};

}  // namespace framedex::call_stream
