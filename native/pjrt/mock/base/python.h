// CPython's C API, resolved in the process at run time: the library links against no Python and loads into any version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pjrt/mock/base/error.h"

namespace framedex::mock::python {

struct Object;  // a PyObject

// Whether this process has an interpreter that can be entered: initialised and not finalizing.
bool is_usable();

// Whether this thread holds the GIL. Call only while is_usable().
bool has_gil();

// Holds the GIL; can be nested. Construct only while is_usable(). Releases references dropped without the GIL.
class Gil {
 public:
  Gil();
  ~Gil();
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  int state_;
};

// Releases the GIL if this thread holds it, and takes it again at the end.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  void* thread_ = nullptr;
};

// An owned reference; it must be dropped with the GIL held.
class Reference {
 public:
  Reference() = default;
  explicit Reference(Object* owned) : object_(owned) {}
  Reference(Reference&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Reference& operator=(Reference&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Reference();

  Object* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  // Gives up ownership, for a function that steals the reference.
  Object* release() { return std::exchange(object_, nullptr); }

 private:
  Object* object_ = nullptr;
};

// An owned reference that can be dropped on any thread: its object is released when the GIL is next held.
class OwnedReference {
 public:
  OwnedReference() = default;
  OwnedReference(Reference reference) : object_(reference.release()) {}  // NOLINT: a Reference that outlives the GIL
  OwnedReference(OwnedReference&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  OwnedReference& operator=(OwnedReference&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~OwnedReference();

  Object* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Object* object_ = nullptr;
};

// Releases references that were dropped without the GIL, which the caller now holds. Returns their number.
size_t release_dropped();
// Like release_dropped(), for a caller without the GIL. Does nothing if no interpreter can be entered.
void release_dropped_with_gil();
// Returns the number of dropped references that wait for the GIL.
size_t dropped_count();

// ---- These functions need the GIL. A null Reference means that a Python exception is set; take_error() turns it into
// a status.

Reference share(Object* borrowed);
// Turns the Python exception into a status. A KeyboardInterrupt is raised again in the program.
Status take_error();
// Returns the status for the text of an exception. XLA's texts begin with the name of the error code.
Status status_of(std::string message);

Reference import_from(const std::string& folder, const char* module);
// Returns a module that is already imported; null, without an exception, if it is not.
Reference loaded_module(const char* name);
Reference attribute(Object* object, const char* name);
Reference call(Object* callable, std::initializer_list<Object*> arguments);
// Calls `callable`. The last of `arguments` is the keyword argument that `keyword_names` names.
Reference call_with_keyword(Object* callable, std::initializer_list<Object*> arguments, Object* keyword_names);
Reference call_method(Object* interned_name, Object* object);
Reference call_method(Object* interned_name, Object* object, Object* argument);

Reference interned(const char* text);
Reference keyword_names(const char* keyword);
Reference integer(int64_t value);
Reference text(std::string_view value);
Reference bytes(std::string_view value);
Reference new_list(size_t size);
// Steals `item`.
void set_item(Object* list, size_t index, Reference item);
Reference tuple_of(const std::vector<int64_t>& values);
Object* true_object();
// Returns a capsule around `pointer`, which must outlive it.
Reference capsule(void* pointer);
// Returns an object that exposes these bytes read-only through the buffer protocol and keeps them alive.
Reference memory(std::shared_ptr<char> bytes, int64_t size);
// Returns a callable without arguments that runs `action`, with the GIL, and returns None.
Reference function(const char* name, void (*action)());

// Conversions to C++. For an object of another type they return nothing, with an exception set.
std::optional<int64_t> to_integer(Object* object);
std::optional<std::string> to_text(Object* object);
std::optional<std::string> to_bytes(Object* object);
bool is_true(Object* object);
// The length and items of a list or tuple; 0 and null for other objects, and null beyond the end.
size_t size(Object* sequence);
Reference item(Object* sequence, size_t index);

}  // namespace framedex::mock::python
