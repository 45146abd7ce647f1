// The effects of calls at their ends, queued until the stream of calls reaches that time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "call_stream/call_objects.h"
#include "call_stream/living_objects.h"

namespace framedex::call_stream {

struct Effect {
  // A result object of the call. `size` is kNone if it is unknown.
  struct Result {
    ObjectType type;
    Role role;
    uint64_t address;
    int64_t size;
  };

  int64_t time = 0;
  uint64_t call = 0;
  uint32_t kind = 0;         // of the call
  bool is_error = false;     // the call failed; its only result is the error
  int32_t owner = -1;        // of the results: index of a client
  LifeId deleted = kNoLife;  // the object whose deletion the call reported
  bool has_identified = false;
  ObjectUse identified{};
  int64_t id = 0;
  std::vector<Result> results;
  std::vector<ObjectType> hidden;

  bool has_result(ObjectType type, uint64_t address) const;
};

// Returns effects ordered by time; at equal times, ordered by call.
class PendingEffects {
 public:
  bool empty() const { return queue_.empty(); }
  int64_t first_time() const { return queue_.front().time; }
  // Returns an effect for the caller to fill and then add(). Its members have stale values.
  Effect* next() { return &effects_[free_slot()]; }
  void add();

  // Removes the first effect. The reference is valid until the next add.
  const Effect& take_first();
  // Removes the effects up to `time` that have this object as a result, and returns them in order.
  std::vector<Effect> take_with_result(ObjectType type, uint64_t address, int64_t time);

 private:
  struct QueuedEffect {
    int64_t time;
    uint64_t call;
    size_t slot;
  };
  static bool is_later(const QueuedEffect& a, const QueuedEffect& b) {
    return a.time != b.time ? a.time > b.time : a.call > b.call;
  }
  size_t free_slot();

  std::vector<QueuedEffect> queue_;  // a heap, with the first effect on top
  std::vector<Effect> effects_;
  std::vector<size_t> free_;  // indexes of free effects
};

}  // namespace framedex::call_stream
