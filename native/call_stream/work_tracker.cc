#include "call_stream/work_tracker.h"

#include <algorithm>

#include "call_stream/times.h"

namespace framedex::call_stream {

std::vector<WorkId> WorkTracker::take_received(const RecordedCall& call) {
  std::vector<WorkId> received;
  const std::vector<ObjectField>& inputs = function(call.function).known().inputs;
  if (std::none_of(inputs.begin(), inputs.end(), [&](const ObjectField& field) { return counts_[field.type] != 0; })) {
    return received;
  }
  reader_.read(call, &objects_);
  for (const ObjectUse& use : objects_.inputs) {
    WorkId piece = piece_at(use, call.start);
    if (piece == kNoWork) continue;
    received.push_back(piece);
    for (const ObjectKey& key : keys_[piece]) {
      unreceived_.erase(key);
      --counts_[key.first];
    }
    keys_.erase(piece);
  }
  return received;
}

WorkId WorkTracker::assign_piece(const RecordedCall& call) {
  if (!function(call.function).has_objects() || call.duration < 0) return kNoWork;
  reader_.read(call, &objects_);
  WorkId piece = kNoWork;
  for (const ObjectUse& use : objects_.inputs) {
    WorkId input_piece = piece_at(use, call.start);
    if (input_piece != kNoWork && (piece == kNoWork || input_piece < piece)) piece = input_piece;
  }
  int64_t end = sum(call.start, call.duration);
  for (const ObjectUse& use : objects_.results) {
    if (use.role != Role::kCreates) continue;
    if (piece == kNoWork) piece = static_cast<WorkId>(call.row);
    add(use, piece, end);
  }
  for (const ObjectUse& use : objects_.inputs) {
    if (use.role == Role::kDestroys) forget({use.type, use.address});
  }
  return keys_.count(piece) != 0 ? piece : kNoWork;
}

// Returns the piece whose object was at an address at this time.
WorkId WorkTracker::piece_at(const ObjectUse& use, int64_t time) const {
  auto found = unreceived_.find({use.type, use.address});
  return found != unreceived_.end() && time >= found->second.created_at ? found->second.piece : kNoWork;
}

void WorkTracker::add(const ObjectUse& use, WorkId piece, int64_t created_at) {
  ObjectKey key{use.type, use.address};
  keys_[piece].insert(key);
  auto found = unreceived_.find(key);
  if (found != unreceived_.end() && found->second.piece != piece) forget(key);
  counts_[key.first] += unreceived_.insert_or_assign(key, UnreceivedObject{piece, created_at}).second ? 1 : 0;
}

void WorkTracker::forget(const ObjectKey& key) {
  auto found = unreceived_.find(key);
  if (found == unreceived_.end()) return;
  auto keys_of_piece = keys_.find(found->second.piece);
  keys_of_piece->second.erase(key);
  if (keys_of_piece->second.empty()) {
    lost_.push_back(keys_of_piece->first);
    keys_.erase(keys_of_piece);
  }
  unreceived_.erase(found);
  --counts_[key.first];
}

}  // namespace framedex::call_stream
