// The objects that later calls may refer to, by address.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "call_stream/call_objects.h"
#include "call_stream/object_rows.h"

namespace framedex::call_stream {

// An object, from its first appearance until another object has its address.
struct ObjectLifetime {
  uint64_t object = 0;  // by birth
  uint64_t address = 0;
  int64_t order = 0;  // among objects of its type, from 1
  int64_t born = 0;
  int64_t created_call = kNone;
  uint32_t created_kind = 0;  // of the creating call
  uint64_t first_call = 0;
  uint64_t last_call = 0;
  uint64_t uses = 0;
  int64_t destroyed_call = kNone;
  int64_t destroyed_at = 0;  // when the destroying call began
  int64_t deleted_call = kNone;
  int64_t size = kNone;
  int64_t busy_until = -1;  // the latest end of a call that uses it
  uint64_t busy_call = 0;
  uint32_t busy_thread = 0;
  int32_t references = 1;  // references that must be destroyed
  int32_t owner = -1;      // index of a client
  int32_t client = -1;     // for a client: its own index
  uint32_t holds = 0;      // by pending effects that will change it
  ObjectType type = 0;
  bool is_foreign = false;
  bool is_replaced = false;  // another has its address
  bool is_changed = false;   // since it was last taken
  bool is_listed = false;    // in the list for the next take

  bool is_destroyed() const { return destroyed_call != kNone; }
};

using LifeId = uint32_t;
inline constexpr LifeId kNoLife = 0xFFFFFFFF;

// Keeps one object per type and address. A replaced object is forgotten once its row is taken.
class LiveObjects {
 public:
  // Returns the object at an address; kNoLife if there is none.
  LifeId find(ObjectType type, uint64_t address) const;
  // Returns a reference that stays valid.
  ObjectLifetime& operator[](LifeId id) { return chunks_[id / kChunk][id % kChunk]; }
  const ObjectLifetime& operator[](LifeId id) const { return chunks_[id / kChunk][id % kChunk]; }
  // Begins the life of a new object, which replaces the one at its address.
  LifeId begin(ObjectLifetime life);
  // Call whenever an object's row changes.
  void mark_changed(LifeId id);
  // A held object keeps its id even when it is replaced.
  void hold(LifeId id) { ++(*this)[id].holds; }
  void release(LifeId id);

  uint64_t count() const { return count_; }
  // Returns new and changed objects since the last take, ordered by birth.
  std::vector<ObjectLifetime> take_changed();

 private:
  // An entry of the open-addressing table, which only grows.
  struct Entry {
    uint64_t address = 0;  // 0: free; objects never have this address
    ObjectType type = 0;
    LifeId life = kNoLife;
  };

  static constexpr LifeId kChunk = 1024;

  size_t entry_index(ObjectType type, uint64_t address) const;
  void grow();
  LifeId new_id();
  void drop(LifeId id);

  std::vector<Entry> entries_ = std::vector<Entry>(1024);
  size_t used_ = 0;
  std::vector<std::unique_ptr<ObjectLifetime[]>> chunks_;
  LifeId ids_ = 0;  // number of ids in use
  std::vector<LifeId> free_;
  std::vector<LifeId> listed_;
  std::vector<ObjectLifetime> dropped_;  // changed and replaced, but not yet taken
  uint64_t count_ = 0;
};

}  // namespace framedex::call_stream
