#include "call_stream/lifetimes.h"

#include <algorithm>
#include <utility>

#include "call_stream/times.h"

namespace framedex::call_stream {
namespace {

// The largest clock difference between two threads, in nanoseconds.
constexpr int64_t kClockSlack = 10'000;

constexpr char kCreatesClient[] = "PJRT_Client_Create";

// Returns the end of a call. A call that never returned ends after all others if it is the last one of its thread, else
// its end counts as already past.
int64_t known_end_of(const RecordedCall& call) {
  if (call.duration >= 0) return sum(call.start, call.duration);
  return call.is_last_of_thread ? kForever : -1;
}

}  // namespace

Lifetimes::Lifetimes(const ObjectTable& table)
    : reader_(table), numbers_(table), unseen_since_(table.types().size(), kNone) {
  for (ObjectType type : table.find_unseen_types()) unseen_since_[type] = kForever;
}

void Lifetimes::add_function(const std::string& name, const std::vector<std::string>& value_names) {
  reader_.add_function(name, value_names);
  creates_client_.push_back(name == kCreatesClient);
}

void Lifetimes::add(const RecordedCall& call) {
  apply_effects_until(call.start);
  const ObjectReader::Function& function = reader_.function(call.function);
  sees_beginning_ = sees_beginning_ || creates_client_[call.function];
  arguments_.clear();
  if (function.has_objects()) {
    reader_.read(call, &objects_);
    for (const ObjectUse& use : objects_.inputs) add_argument(note_use(call, use));
  }
  if (call.duration >= 0) schedule(call);
  if (!arguments_.empty()) living_.release(arguments_.front().life);
}

// Looks up the owner of the call's results among the objects that still exist: some may have been destroyed meanwhile.
void Lifetimes::returned(const RecordedCall& call) {
  const ObjectReader::Function& function = reader_.function(call.function);
  arguments_.clear();
  if (function.has_objects()) {
    reader_.read(call, &objects_);
    for (const ObjectUse& use : objects_.inputs) {
      undo_effect(call, function.known(), use);
      LifeId id = living_.find(use.type, use.address);
      if (id != kNoLife) add_argument(id);
    }
  }
  schedule(call);
  if (!arguments_.empty()) living_.release(arguments_.front().life);
}

void Lifetimes::finish() { apply_effects_until(kForever); }

// Records that a call uses an object as an argument.
LifeId Lifetimes::note_use(const RecordedCall& call, const ObjectUse& use) {
  const BoundaryFunction& function = reader_.function(call.function).known();
  LifeId id = life_at(call, use);
  ObjectLifetime& life = living_[id];
  life.last_call = call.row;
  ++life.uses;
  ViolationKind kind;
  int64_t earlier;
  if (find_violation(life, function, use.role, &kind, &earlier)) add_violation(kind, life.object, call.row, earlier);
  bool has_failed = call.error > 0;
  if (!life.is_destroyed() && !has_failed) apply(call, function, use.role, id);
  living_.mark_changed(id);
  return id;
}

// Returns the object at an address when a call began; a new one if the address was not use before.
LifeId Lifetimes::life_at(const RecordedCall& call, const ObjectUse& use) {
  LifeId id = living_.find(use.type, use.address);
  if ((id == kNoLife || living_[id].is_destroyed()) && !pending_.empty())
    id = find_concurrent_creation(use, call.start);
  if (id != kNoLife && !may_be_reused(living_[id])) return id;
  bool is_known = id != kNoLife || unseen_since_[use.type] != kNone;
  if (use.role == Role::kDestroys && !is_known && sees_beginning_) {
    add_violation(ViolationKind::kUnknownDestroy, living_.count(), call.row, kNone);
  }
  ObjectLifetime life;
  life.type = use.type;
  life.address = use.address;
  life.born = call.start;
  life.first_call = life.last_call = call.row;
  return begin(life);
}

// Returns the object of that address whose creation on another thread ended at about this time: by that thread's clock
// it may end a little later. kNoLife if there is none.
LifeId Lifetimes::find_concurrent_creation(const ObjectUse& use, int64_t start) {
  for (const Effect& effect : pending_.take_with_result(use.type, use.address, sum(start, kClockSlack))) {
    apply_effect(effect, std::min(effect.time, start));
  }
  return living_.find(use.type, use.address);
}

// Finds the violation in passing this object to this function, and the earlier call that makes it one. Returns false if
// there is none.
bool Lifetimes::find_violation(const ObjectLifetime& life, const BoundaryFunction& function, Role role,
                               ViolationKind* kind, int64_t* earlier) const {
  bool is_destroying = role == Role::kDestroys;
  auto found = [&](ViolationKind fault, int64_t call) {
    *kind = fault;
    *earlier = call;
    return true;
  };
  if (life.is_destroyed()) {
    return found(is_destroying ? ViolationKind::kDoubleDestroy : ViolationKind::kUseAfterDestroy, life.destroyed_call);
  }
  if (is_destroying && life.is_foreign) {
    return found(ViolationKind::kForeignDestroy, static_cast<int64_t>(life.first_call));
  }
  if (life.owner >= 0 && clients_[life.owner].destroyed_call != kNone) {
    return found(ViolationKind::kUseAfterClient, clients_[life.owner].destroyed_call);
  }
  if (function.reads && role == Role::kUses && life.deleted_call != kNone) {
    return found(ViolationKind::kUseAfterDelete, life.deleted_call);
  }
  return false;
}

// Applies the function's destruction or deletion to a living object among the call's arguments.
void Lifetimes::apply(const RecordedCall& call, const BoundaryFunction& function, Role role, LifeId id) {
  ObjectLifetime& life = living_[id];
  auto row = static_cast<int64_t>(call.row);
  if (role == Role::kDestroys) {
    if (life.busy_until > sum(call.start, kClockSlack) && life.busy_thread != call.thread) {
      add_violation(ViolationKind::kDestroyedInUse, life.object, call.row, static_cast<int64_t>(life.busy_call));
    }
    if (--life.references != 0) return;
    life.destroyed_call = row;
    life.destroyed_at = call.start;
    if (life.client >= 0) clients_[life.client].destroyed_call = row;
  } else if (role == Role::kDeletes) {
    if (life.deleted_call == kNone) life.deleted_call = row;
  } else if (int64_t end = known_end_of(call); !function.takes_callback && end > life.busy_until) {
    life.busy_until = end;
    life.busy_call = call.row;
    life.busy_thread = call.thread;
  }
}

// Undoes an effect that was applied before the call returned, and that its return contradicts.
void Lifetimes::undo_effect(const RecordedCall& call, const BoundaryFunction& function, const ObjectUse& use) {
  LifeId id = living_.find(use.type, use.address);
  if (id == kNoLife) return;
  ObjectLifetime& life = living_[id];
  auto row = static_cast<int64_t>(call.row);
  if (!function.takes_callback && life.busy_call == call.row && life.busy_until == kForever) {
    life.busy_until = known_end_of(call);
  }
  if (call.error <= 0) return;
  if (life.deleted_call == row) life.deleted_call = kNone;
  if (life.destroyed_call == row) {
    life.destroyed_call = kNone;
    life.references = 1;
    if (life.client >= 0) clients_[life.client].destroyed_call = kNone;
  }
  living_.mark_changed(id);
}

// Adds an argument of the current call. The first one is held, because the call may report its deletion.
void Lifetimes::add_argument(LifeId id) {
  if (arguments_.empty()) living_.hold(id);
  const ObjectLifetime& life = living_[id];
  bool is_client = life.client >= 0;
  arguments_.push_back({id, life.type, is_client ? life.client : life.owner, is_client, life.size});
}

// Queues the effects that the call has at its end.
void Lifetimes::schedule(const RecordedCall& call) {
  const ObjectReader::Function& function = reader_.function(call.function);
  bool is_error = call.error > 0;
  bool has_effect = is_error || (function.has_objects() && (!objects_.results.empty() || !objects_.hidden.empty() ||
                                                            objects_.has_identified || objects_.is_deleted));
  if (!has_effect) return;
  Effect& effect = *pending_.next();
  effect.time = known_end_of(call);
  effect.call = call.row;
  effect.kind = call.kind;
  effect.is_error = is_error;
  effect.deleted = kNoLife;
  effect.results.clear();
  effect.hidden.clear();
  effect.has_identified = false;
  if (!is_error) {
    effect.owner = client_of_arguments();
    for (const ObjectUse& result : objects_.results) {
      effect.results.push_back({result.type, result.role, result.address, size_of(result)});
    }
    effect.hidden.swap(objects_.hidden);
    effect.has_identified = objects_.has_identified;
    effect.identified = objects_.identified;
    effect.id = objects_.id;
    if (objects_.is_deleted && !arguments_.empty()) {
      effect.deleted = arguments_.front().life;
      living_.hold(effect.deleted);
    }
  }
  pending_.add();
}

// Returns the size of a result: from the call's values, or else that of the argument that it copies. A program's
// results are not copies.
int64_t Lifetimes::size_of(const ObjectUse& result) const {
  if (result.is_sized) return objects_.bytes;
  if (result.is_listed) return kNone;
  auto source = std::find_if(arguments_.begin(), arguments_.end(),
                             [&](const ArgumentObject& argument) { return argument.type == result.type; });
  return source == arguments_.end() ? kNone : source->size;
}

// Returns the client among the call's arguments, else the client of the first argument that has one.
int32_t Lifetimes::client_of_arguments() const {
  for (const ArgumentObject& argument : arguments_) {
    if (argument.is_client) return argument.client;
  }
  for (const ArgumentObject& argument : arguments_) {
    if (argument.client >= 0) return argument.client;
  }
  return -1;
}

void Lifetimes::apply_effects_until(int64_t time) {
  while (!pending_.empty() && pending_.first_time() <= time) {
    const Effect& effect = pending_.take_first();
    apply_effect(effect, effect.time);
  }
}

void Lifetimes::apply_effect(const Effect& effect, int64_t time) {
  if (effect.is_error) return note_unseen_creation(ObjectTable::kError, time);
  for (ObjectType type : effect.hidden) note_unseen_creation(type, time);
  for (const Effect::Result& result : effect.results) add_result(effect, time, result);
  if (effect.has_identified) {
    LifeId id = living_.find(effect.identified.type, effect.identified.address);
    if (id != kNoLife) numbers_.identify(effect.identified.type, living_[id].order, effect.id);
  }
  if (effect.deleted != kNoLife) {
    ObjectLifetime& life = living_[effect.deleted];
    if (life.deleted_call == kNone) {
      life.deleted_call = static_cast<int64_t>(effect.call);
      living_.mark_changed(effect.deleted);
    }
    living_.release(effect.deleted);
  }
}

void Lifetimes::add_result(const Effect& effect, int64_t time, const Effect::Result& result) {
  LifeId id = living_.find(result.type, result.address);
  bool is_created = result.role == Role::kCreates;
  if (id != kNoLife && is_alive(living_[id]) && (!is_created || living_[id].created_call != kNone)) {
    // The same object again: if the function creates it, each reference must be destroyed.
    ObjectLifetime& life = living_[id];
    life.references += is_created ? 1 : 0;
    life.last_call = std::max(life.last_call, effect.call);
    return living_.mark_changed(id);
  }
  ObjectLifetime life;
  life.type = result.type;
  life.address = result.address;
  life.born = time;
  life.created_call = is_created ? static_cast<int64_t>(effect.call) : kNone;
  life.created_kind = effect.kind;
  life.first_call = life.last_call = effect.call;
  life.owner = effect.owner;
  life.is_foreign = !is_created;
  life.size = result.size;
  begin(life);
}

LifeId Lifetimes::begin(ObjectLifetime life) {
  life.order = numbers_.add(life.type, living_.count());
  if (life.type == ObjectTable::kClient) {
    life.client = static_cast<int32_t>(clients_.size());
    clients_.push_back({living_.count()});
  }
  return living_.begin(life);
}

void Lifetimes::note_unseen_creation(ObjectType type, int64_t time) {
  unseen_since_[type] = std::max(time, unseen_since_[type]);
}

// Returns whether a destroyed object's address may now belong to one whose creation was not use.
bool Lifetimes::may_be_reused(const ObjectLifetime& life) const {
  int64_t unseen_since = unseen_since_[life.type];
  return life.is_destroyed() && unseen_since != kNone && unseen_since >= life.destroyed_at;
}

// Returns whether neither the object nor its client has been destroyed.
bool Lifetimes::is_alive(const ObjectLifetime& life) const {
  return !life.is_destroyed() && (life.owner < 0 || clients_[life.owner].destroyed_call == kNone);
}

void Lifetimes::add_violation(ViolationKind kind, uint64_t object, uint64_t call, int64_t earlier) {
  violations_.kind.push_back(kind);
  violations_.object.push_back(object);
  violations_.call.push_back(call);
  violations_.earlier_call.push_back(earlier);
}

ObjectRows Lifetimes::take_objects() {
  ObjectRows rows;
  for (const ObjectLifetime& life : living_.take_changed()) {
    rows.object.push_back(life.object);
    rows.type.push_back(life.type);
    rows.number.push_back(numbers_.reported_number(life.type, life.order));
    rows.address.push_back(life.address);
    rows.born.push_back(life.born);
    rows.created_call.push_back(life.created_call);
    rows.created_kind.push_back(life.created_kind);
    rows.first_call.push_back(life.first_call);
    rows.last_call.push_back(life.last_call);
    rows.uses.push_back(life.uses);
    rows.destroyed_call.push_back(life.destroyed_call);
    rows.deleted_call.push_back(life.deleted_call);
    rows.owner.push_back(life.owner < 0 ? kNone : static_cast<int64_t>(clients_[life.owner].object));
    rows.size.push_back(life.size);
    rows.is_foreign.push_back(life.is_foreign ? 1 : 0);
  }
  return rows;
}

ViolationRows Lifetimes::take_violations() { return std::exchange(violations_, {}); }

}  // namespace framedex::call_stream
