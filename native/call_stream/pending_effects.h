// What calls do at their end, until the stream of calls is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "call_stream/call_objects.h"
#include "call_stream/living_objects.h"

namespace framedex::call_stream {

struct Effect {
  // An object that the call hands out. `size` is kNone where nothing tells it.
  struct Result {
    ObjectType type;
    Role role;
    uint64_t address;
    int64_t size;
  };

  int64_t time = 0;
  uint64_t call = 0;
  uint32_t kind = 0;         // of the call
  bool is_error = false;     // it answered with an error, and hands out nothing but that
  int32_t owner = -1;        // of what it hands out: a place among the clients
  LifeId deleted = kNoLife;  // the object that it told the deletion of
  bool has_identified = false;
  Sighting identified{};
  int64_t id = 0;
  std::vector<Result> results;
  std::vector<ObjectType> hidden;

  bool hands_out(ObjectType type, uint64_t address) const;
};

// Gives the effects in the order of their times; of those at one time, in that of their calls.
class PendingEffects {
 public:
  bool empty() const { return queue_.empty(); }
  int64_t first_time() const { return queue_.front().time; }
  // An effect to be filled and then added; its members are as a former one left them.
  Effect* next() { return &effects_[free_slot()]; }
  void add();

  // Takes the first effect out. It stays as it is until the next one is added.
  const Effect& take_first();
  // Takes out those that hand out this object by `time`; in the same order.
  std::vector<Effect> take_those_that_hand_out(ObjectType type, uint64_t address, int64_t time);

 private:
  struct Queued {
    int64_t time;
    uint64_t call;
    size_t slot;
  };
  static bool is_later(const Queued& a, const Queued& b) {
    return a.time != b.time ? a.time > b.time : a.call > b.call;
  }
  size_t free_slot();

  std::vector<Queued> queue_;  // a heap, the first effect on top
  std::vector<Effect> effects_;
  std::vector<size_t> free_;  // places of effects that are over
};

}  // namespace framedex::call_stream
