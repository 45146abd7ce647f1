// Pieces of work on native threads, identified by the objects that they create.
//
// The requesting thread receives a program that XLA compiles on a pool thread: the first thread to use the program is
// the one that waited for it. A piece of work is a call that creates an object, and the earlier calls without Python
// that work on it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "call_stream/call_objects.h"
#include "call_stream/recorded_call.h"

namespace framedex::call_stream {

// The row of a piece's first call.
using WorkId = int64_t;
inline constexpr WorkId kNoWork = -1;

class WorkTracker {
 public:
  explicit WorkTracker(const ObjectTable& table) : counts_(table.types().size()), reader_(table) {}

  void add_function(const std::string& name, const std::vector<std::string>& value_names) {
    reader_.add_function(name, value_names);
  }
  const ObjectReader::Function& function(uint32_t index) const { return reader_.function(index); }

  // Returns the pieces whose objects a call on a Python thread is the first to receive.
  std::vector<WorkId> take_received(const RecordedCall& call);
  // Returns the piece of a call on a native thread; kNoWork if no thread can receive an object of the piece.
  WorkId assign_piece(const RecordedCall& call);
  // Returns the pieces lost since the last take: no thread can receive their objects any more.
  std::vector<WorkId> take_lost() { return std::exchange(lost_, {}); }

 private:
  using ObjectKey = std::pair<ObjectType, uint64_t>;  // type, address
  struct UnreceivedObject {
    WorkId piece;
    int64_t created_at;
  };

  WorkId piece_at(const ObjectUse& use, int64_t time) const;
  void add(const ObjectUse& use, WorkId piece, int64_t created_at);
  void forget(const ObjectKey& key);

  std::map<ObjectKey, UnreceivedObject> unreceived_;  // objects that no Python thread has received yet
  std::vector<size_t> counts_;                        // of unreceived_, by type
  std::map<WorkId, std::set<ObjectKey>> keys_;
  std::vector<WorkId> lost_;
  ObjectReader reader_;
  CallObjects objects_;  // of the current call
};

}  // namespace framedex::call_stream
