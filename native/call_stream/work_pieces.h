// Pieces of work on threads without Python, followed by the objects that they make.
//
// A program compiled on a thread of XLA's pool is an object that the thread which asked for it is given: whoever is the
// first to use it is the one who waited. A piece of work is a call that makes an object, and the calls without Python
// that work on it before that.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "call_stream/call_objects.h"
#include "call_stream/recorded_call.h"

namespace framedex::call_stream {

// A piece is named by the row of its first call.
using Piece = int64_t;
inline constexpr Piece kNoPiece = -1;

class WorkPieces {
 public:
  explicit WorkPieces(const ObjectTable& table) : counts_(table.types().size()), reader_(table) {}

  void add_function(const std::string& name, const std::vector<std::string>& value_names) {
    reader_.add_function(name, value_names);
  }
  const ObjectReader::Function& function(uint32_t place) const { return reader_.function(place); }

  // The pieces of which a call of a thread with Python is the first to be given an object.
  std::vector<Piece> taken_by(const RecordedCall& call);
  // The piece that a call without Python belongs to; kNoPiece where nobody can be given anything of it.
  Piece work_on(const RecordedCall& call);
  // The pieces of which nothing is left since this was last asked, so that nobody can be given anything of them.
  std::vector<Piece> take_lost() { return std::exchange(lost_, {}); }

 private:
  using Place = std::pair<ObjectType, uint64_t>;  // type, address
  struct Made {
    Piece piece;
    int64_t born;
  };

  Piece piece_at(const Sighting& seen, int64_t time) const;
  void add(const Sighting& seen, Piece piece, int64_t born);
  void forget(const Place& place);

  std::map<Place, Made> made_;  // the objects that no thread with Python has been given yet
  std::vector<size_t> counts_;  // of them, by type
  std::map<Piece, std::set<Place>> places_;
  std::vector<Piece> lost_;
  ObjectReader reader_;
  CallObjects objects_;  // of the call under way
};

}  // namespace framedex::call_stream
