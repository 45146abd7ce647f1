// The objects of which a call that is yet to come may speak, by their addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "call_stream/call_objects.h"
#include "call_stream/object_rows.h"

namespace framedex::call_stream {

// An object, from its first sight until another has its address.
struct Life {
  uint64_t object = 0;  // counted by birth
  uint64_t address = 0;
  int64_t order = 0;  // among those of its type, from 1
  int64_t born = 0;
  int64_t created_call = kNone;
  uint32_t created_kind = 0;  // of that call
  uint64_t first_call = 0;
  uint64_t last_call = 0;
  uint64_t uses = 0;
  int64_t destroyed_call = kNone;
  int64_t destroyed_at = 0;  // when that call began
  int64_t deleted_call = kNone;
  int64_t size = kNone;
  int64_t busy_until = -1;  // the end of the call that uses it longest
  uint64_t busy_call = 0;
  uint32_t busy_thread = 0;
  int32_t references = 1;  // that have to be destroyed
  int32_t owner = -1;      // a place among the clients
  int32_t client = -1;     // of a client: its own place among them
  uint32_t holds = 0;      // by effects that will change it
  ObjectType type = 0;
  bool is_foreign = false;
  bool is_replaced = false;  // another has its address
  bool is_changed = false;   // since it was given out
  bool is_listed = false;    // among those to be looked at when rows are taken

  bool is_destroyed() const { return destroyed_call != kNone; }
};

using LifeId = uint32_t;
inline constexpr LifeId kNoLife = 0xFFFFFFFF;

// Keeps one object for each type and address. What has been replaced is forgotten once its row is taken.
class LivingObjects {
 public:
  // The object at an address; kNoLife if none has been seen there.
  LifeId at(ObjectType type, uint64_t address) const;
  // Stays where it is.
  Life& operator[](LifeId id) { return chunks_[id / kChunk][id % kChunk]; }
  const Life& operator[](LifeId id) const { return chunks_[id / kChunk][id % kChunk]; }
  // Begins the life of a new object, in place of the one that is there.
  LifeId begin(Life life);
  // To be called whenever an object's row is another.
  void changed(LifeId id);
  // An object that is held keeps its id even when it is replaced.
  void hold(LifeId id) { ++(*this)[id].holds; }
  void release(LifeId id);

  uint64_t count() const { return count_; }
  // The objects that are new or have changed since they were last taken, in the order of their birth.
  std::vector<Life> take_changed();

 private:
  // Where an object is found: a place in an open-addressing table, which only ever grows.
  struct Entry {
    uint64_t address = 0;  // 0: free; no object is there
    ObjectType type = 0;
    LifeId life = kNoLife;
  };

  static constexpr LifeId kChunk = 1024;

  size_t place_of(ObjectType type, uint64_t address) const;
  void grow();
  LifeId new_id();
  void drop(LifeId id);

  std::vector<Entry> entries_ = std::vector<Entry>(1024);
  size_t used_ = 0;
  std::vector<std::unique_ptr<Life[]>> chunks_;
  LifeId ids_ = 0;  // so many have been given
  std::vector<LifeId> free_;
  std::vector<LifeId> listed_;
  std::vector<Life> dropped_;  // changed and replaced, but not yet taken
  uint64_t count_ = 0;
};

}  // namespace framedex::call_stream
