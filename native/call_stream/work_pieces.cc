#include "call_stream/work_pieces.h"

#include <algorithm>

#include "call_stream/times.h"

namespace framedex::call_stream {

std::vector<Piece> WorkPieces::taken_by(const RecordedCall& call) {
  std::vector<Piece> taken;
  const std::vector<ObjectField>& inputs = function(call.function).known().inputs;
  if (std::none_of(inputs.begin(), inputs.end(), [&](const ObjectField& field) { return counts_[field.type] != 0; })) {
    return taken;
  }
  reader_.read(call, &objects_);
  for (const ObjectUse& seen : objects_.inputs) {
    Piece piece = piece_at(seen, call.start);
    if (piece == kNoPiece) continue;
    taken.push_back(piece);
    for (const Place& place : places_[piece]) {
      made_.erase(place);
      --counts_[place.first];
    }
    places_.erase(piece);
  }
  return taken;
}

Piece WorkPieces::work_on(const RecordedCall& call) {
  if (!function(call.function).has_objects() || call.duration < 0) return kNoPiece;
  reader_.read(call, &objects_);
  Piece piece = kNoPiece;
  for (const ObjectUse& seen : objects_.inputs) {
    Piece given = piece_at(seen, call.start);
    if (given != kNoPiece && (piece == kNoPiece || given < piece)) piece = given;
  }
  int64_t end = sum(call.start, call.duration);
  for (const ObjectUse& seen : objects_.results) {
    if (seen.role != Role::kCreates) continue;
    if (piece == kNoPiece) piece = static_cast<Piece>(call.row);
    add(seen, piece, end);
  }
  for (const ObjectUse& seen : objects_.inputs) {
    if (seen.role == Role::kDestroys) forget({seen.type, seen.address});
  }
  return places_.count(piece) != 0 ? piece : kNoPiece;
}

// Returns the piece whose object was at an address at this time.
Piece WorkPieces::piece_at(const ObjectUse& seen, int64_t time) const {
  auto found = made_.find({seen.type, seen.address});
  return found != made_.end() && time >= found->second.born ? found->second.piece : kNoPiece;
}

void WorkPieces::add(const ObjectUse& seen, Piece piece, int64_t born) {
  Place place{seen.type, seen.address};
  places_[piece].insert(place);
  auto found = made_.find(place);
  if (found != made_.end() && found->second.piece != piece) forget(place);
  counts_[place.first] += made_.insert_or_assign(place, UnreceivedObject{piece, born}).second ? 1 : 0;
}

void WorkPieces::forget(const Place& place) {
  auto found = made_.find(place);
  if (found == made_.end()) return;
  auto of_piece = places_.find(found->second.piece);
  of_piece->second.erase(place);
  if (of_piece->second.empty()) {
    lost_.push_back(of_piece->first);
    places_.erase(of_piece);
  }
  made_.erase(found);
  --counts_[place.first];
}

}  // namespace framedex::call_stream
