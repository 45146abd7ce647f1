// Pieces of work on threads without Python, identified by the objects that they create.
//
// A program compiled on an XLA pool thread is an object that the requesting thread receives: the first thread to use it
// is the one that waited. A piece of work is a call that creates an object, and the earlier calls without Python that
// work on it.
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
using Piece = int64_t;
inline constexpr Piece kNoPiece = -1;

class WorkPieces {
 public:
  explicit WorkPieces(const ObjectTable& table) : counts_(table.types().size()), reader_(table) {}

  void add_function(const std::string& name, const std::vector<std::string>& value_names) {
    reader_.add_function(name, value_names);
  }
  const ObjectReader::Function& function(uint32_t place) const { return reader_.function(place); }

  // Returns the pieces whose objects a call on a thread with Python is the first to receive.
  std::vector<Piece> taken_by(const RecordedCall& call);
  // Returns the piece of a call on a thread without Python; kNoPiece if no thread can receive an object of the piece.
  Piece work_on(const RecordedCall& call);
  // Returns the pieces lost since the last take: no thread can receive their objects any more.
  std::vector<Piece> take_lost() { return std::exchange(lost_, {}); }

 private:
  using Place = std::pair<ObjectType, uint64_t>;  // type, address
  struct UnreceivedObject {
    Piece piece;
    int64_t born;
  };

  Piece piece_at(const ObjectUse& seen, int64_t time) const;
  void add(const ObjectUse& seen, Piece piece, int64_t born);
  void forget(const Place& place);

  std::map<Place, UnreceivedObject> made_;  // objects that no thread with Python has received yet
  std::vector<size_t> counts_;              // of made_, by type
  std::map<Piece, std::set<Place>> places_;
  std::vector<Piece> lost_;
  ObjectReader reader_;
  CallObjects objects_;  // of the current call
};

}  // namespace framedex::call_stream
