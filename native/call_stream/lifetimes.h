// Tracks the runtime's objects through a capture: their creation, uses, destruction, and violations.
//
// An address identifies an object only from its creation to its destruction; later it may be reused. So calls are
// processed once, in the order in which they take effect: arguments at a call's start, results at its end. This order
// puts a destruction on one thread before the creation on another thread that reuses the address.
//
// A missing record never counts as a violation. Objects of a type that can be created unseen (errors, truncated lists)
// may reuse an old address. The clocks of two threads may differ by a little.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "call_stream/call_objects.h"
#include "call_stream/living_objects.h"
#include "call_stream/object_numbers.h"
#include "call_stream/object_rows.h"
#include "call_stream/pending_effects.h"
#include "call_stream/recorded_call.h"

namespace framedex::call_stream {

class Lifetimes {
 public:
  explicit Lifetimes(const ObjectTable& table);

  const std::vector<std::string>& types() const { return reader_.table().types(); }
  // Adds the capture's next function. `value_names` are from the capture, one per field.
  void add_function(const std::string& name, const std::vector<std::string>& value_names);
  // Adds the next call, ordered by start.
  void add(const RecordedCall& call);
  // Records the return of a call that was added before it returned. Its results exist once a later call begins.
  void returned(const RecordedCall& call);
  // Call after the last call: applies the pending effects of calls at their ends.
  void finish();

  // Returns new and changed objects since the last take, ordered by birth.
  ObjectRows take_objects();
  // Returns the violations since the last take, ordered by call.
  ViolationRows take_violations();
  // Returns objects whose number differs from the one returned before. Call after take_objects().
  NumberRows take_numbers() { return numbers_.take_changes(); }

 private:
  // An object among the current call's arguments.
  struct ArgumentObject {
    LifeId life;
    ObjectType type;
    int32_t client;  // index of its client: itself or its owner
    bool is_client;
    int64_t size;
  };

  LifeId note_use(const RecordedCall& call, const ObjectUse& use);
  LifeId life_at(const RecordedCall& call, const ObjectUse& use);
  LifeId find_concurrent_creation(const ObjectUse& use, int64_t start);
  bool find_violation(const ObjectLifetime& life, const BoundaryFunction& function, Role role, ViolationKind* kind,
                      int64_t* earlier) const;
  void apply(const RecordedCall& call, const BoundaryFunction& function, Role role, LifeId id);
  void undo_effect(const RecordedCall& call, const BoundaryFunction& function, const ObjectUse& use);
  void add_argument(LifeId id);
  void schedule(const RecordedCall& call);
  int64_t size_of(const ObjectUse& result) const;
  int32_t client_of_arguments() const;
  void apply_effects_until(int64_t time);
  void apply_effect(const Effect& effect, int64_t time);
  void add_result(const Effect& effect, int64_t time, const Effect::Result& result);
  LifeId begin(ObjectLifetime life);
  void note_unseen_creation(ObjectType type, int64_t time);
  bool may_be_reused(const ObjectLifetime& life) const;
  bool is_alive(const ObjectLifetime& life) const;
  void add_violation(ViolationKind kind, uint64_t object, uint64_t call, int64_t earlier);

  // A client of the runtime, which owns other objects.
  struct Client {
    uint64_t object;
    int64_t destroyed_call = kNone;
  };

  ObjectReader reader_;
  ObjectNumbers numbers_;
  std::vector<bool> creates_client_;   // by function
  bool sees_beginning_ = false;        // whether a client was created since the recording began
  std::vector<int64_t> unseen_since_;  // by type: when one may last have been created unseen
  LiveObjects living_;
  std::vector<Client> clients_;
  PendingEffects pending_;
  ViolationRows violations_;
  CallObjects objects_;                    // of the current call
  std::vector<ArgumentObject> arguments_;  // its arguments
};

}  // namespace framedex::call_stream
