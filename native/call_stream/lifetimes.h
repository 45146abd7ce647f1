// Follows the runtime's objects through a capture: when each was created, used and destroyed, and what was wrong.
//
// An address is an object only from its creation to its destruction; later it may be another one. So calls are gone
// through once, in the order in which they take effect: what a call is given counts at its start, what it hands out at
// its end. Only then is a destruction on one thread before the creation, on another, that got the same address.
//
// Nothing is called wrong for want of a record: a type that can be created unseen (errors, lists that were cut short)
// may have a new object at an old address, and two threads' clocks may differ by a little.
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
  // Adds the capture's next function. `value_names` are those that the capture states, one for each field.
  void add_function(const std::string& name, const std::vector<std::string>& value_names);
  // Goes on to the next call, in the order of their starts.
  void add(const RecordedCall& call);
  // Notes that a call has returned which was added as one that had not. What it hands out is there once a later call
  // begins.
  void returned(const RecordedCall& call);
  // To be called after the last call: what calls do at their end is done.
  void finish();

  // The objects that are new or have changed since they were last taken, in the order of their birth.
  ObjectRows take_objects();
  // The violations since they were last taken, in the order of their calls.
  ViolationRows take_violations();
  // To be called after take_objects(): the objects whose number is not the one that was taken.
  NumberRows take_numbers() { return numbers_.take_changes(); }

 private:
  // An object that the call under way was given.
  struct Given {
    LifeId life;
    ObjectType type;
    int32_t client;  // a place among the clients: its own, or its owner's
    bool is_client;
    int64_t size;
  };

  LifeId meet(const RecordedCall& call, const Sighting& seen);
  LifeId life_at(const RecordedCall& call, const Sighting& seen);
  LifeId after_all(const Sighting& seen, int64_t start);
  bool find_fault(const Life& life, const BoundaryFunction& function, Role role, ViolationKind* kind,
                  int64_t* earlier) const;
  void apply(const RecordedCall& call, const BoundaryFunction& function, Role role, LifeId id);
  void withdraw(const RecordedCall& call, const BoundaryFunction& function, const Sighting& seen);
  void note_given(LifeId id);
  void schedule(const RecordedCall& call);
  int64_t size_of(const Sighting& result) const;
  int32_t client_of_given() const;
  void take_effects_until(int64_t time);
  void take_effect(const Effect& effect, int64_t time);
  void hand_out(const Effect& effect, int64_t time, const Effect::Result& result);
  LifeId begin(Life life);
  void hide(ObjectType type, int64_t time);
  bool may_be_another(const Life& life) const;
  bool is_alive(const Life& life) const;
  void blame(ViolationKind kind, uint64_t object, uint64_t call, int64_t earlier);

  // A client of the runtime, to which other objects belong.
  struct Client {
    uint64_t object;
    int64_t destroyed_call = kNone;
  };

  ObjectReader reader_;
  ObjectNumbers numbers_;
  std::vector<bool> creates_client_;   // by function
  bool sees_beginning_ = false;        // whether a client was created since the recording began
  std::vector<int64_t> hidden_since_;  // by type: when one may last have been created unseen
  LivingObjects living_;
  std::vector<Client> clients_;
  PendingEffects pending_;
  ViolationRows violations_;
  CallObjects objects_;       // of the call under way
  std::vector<Given> given_;  // to it
};

}  // namespace framedex::call_stream
