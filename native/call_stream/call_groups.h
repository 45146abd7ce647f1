// Calls without Python that have the same fate: what is known so far of who had them made, and what is waited for.
//
// A link is often decided late: a thread may pause to the end of the program. So calls are kept as the differences of
// their rows, a byte or two each, and all that is known of them is kept once for all that share it.
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
struct Pause {
  uint32_t thread;
  uint32_t chain;
  bool is_one_line;  // it did not leave the native call in which the first was made
  uint64_t after;    // the row of the second call; kNoRow where nothing depends on it any more

  bool operator<(const Pause& other) const { return key() < other.key(); }

 private:
  std::tuple<uint32_t, uint32_t, bool, uint64_t> key() const { return {thread, chain, is_one_line, after}; }
};

struct Fate {
  Piece piece = kNoPiece;        // that the calls belong to
  bool is_destruction = false;   // which nobody waits for, unless somebody is given what it worked on
  std::vector<Pause> pauses;     // around the calls, by thread
  std::vector<uint32_t> paused;  // threads that have made no call since; the least first

  bool operator<(const Fate& other) const { return key() < other.key(); }
  // Whether nothing will have a say in it any more.
  bool is_decided() const { return piece == kNoPiece && paused.empty(); }
  // Whether no thread can have had the calls made.
  bool is_hopeless() const { return (pauses.empty() && paused.empty()) || (piece == kNoPiece && is_destruction); }

 private:
  std::tuple<Piece, bool, const std::vector<Pause>&, const std::vector<uint32_t>&> key() const {
    return {piece, is_destruction, pauses, paused};
  }
};

// Rows of calls, each as its difference from the one before.
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
    Fate fate;
    Rows rows;
  };

  // Adds calls to those with the same fate.
  void add(Fate fate, const Rows& rows);
  // Take out the groups that wait for a call of the thread, that have a pause which ended with its latest call, or that
  // belong to the piece; or all.
  std::vector<Group> take_waiting_for(uint32_t thread);
  std::vector<Group> take_ended_by(uint32_t thread);
  std::vector<Group> take_of(Piece piece);
  std::vector<Group> take_all();

 private:
  using Place = std::map<Fate, Rows>::iterator;
  template <typename Key>
  using Places = std::map<Key, std::map<const void*, Place>>;

  template <typename Key>
  std::vector<Group> take(Places<Key>* places, Key key);
  Group take(Place place);

  std::map<Fate, Rows> groups_;
  Places<uint32_t> of_waiting_;  // by thread
  Places<uint32_t> of_ended_;    // by thread
  Places<Piece> of_piece_;
};

}  // namespace framedex::call_stream
