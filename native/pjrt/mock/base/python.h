// CPython's C API, found in the process at run time: the library is linked against no Python and loads into any.
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

// Whether this process has an interpreter that can be entered: it is initialised, and not being torn down.
bool is_usable();

// Whether this thread holds the GIL. Only while is_usable().
bool has_gil();

// Holds the GIL; may be nested. Only while is_usable(). What was released without it is released now.
class Gil {
 public:
  Gil();
  ~Gil();
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  int state_;
};

// Lets go of the GIL if this thread holds it.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  void* thread_ = nullptr;
};

// An owned reference, which is dropped with the GIL held.
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
  // The reference itself, for a function that takes it over.
  Object* release() { return std::exchange(object_, nullptr); }

 private:
  Object* object_ = nullptr;
};

// An owned reference which may be dropped on any thread: what it refers to is released when the GIL is next held.
class Held {
 public:
  Held() = default;
  Held(Reference reference) : object_(reference.release()) {}  // NOLINT: a Reference that outlives the GIL
  Held(Held&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Held& operator=(Held&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Held();

  Object* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Object* object_ = nullptr;
};

// Releases what was dropped without the GIL, which the caller holds. Returns how much that was.
size_t release_dropped();
// The same for a caller without the GIL, where there is an interpreter to enter.
void release_dropped_with_gil();
// How many dropped references wait for a holder of the GIL.
size_t dropped_count();

// ---- With the GIL. A null Reference: a Python exception is set, which take_error() turns into a status.

Reference share(Object* borrowed);
// An interrupt from the keyboard is kept for the program as well.
Status take_error();
// The status for an exception's text: XLA's texts begin with the name of their code.
Status status_of(std::string message);

Reference import_from(const std::string& folder, const char* module);
// A module if it was imported; null, without an exception, if not.
Reference loaded_module(const char* name);
Reference attribute(Object* object, const char* name);
Reference call(Object* callable, std::initializer_list<Object*> arguments);
// Calls `callable`, with the last of `arguments` as the keyword argument that `keyword_names` names.
Reference call_with_keyword(Object* callable, std::initializer_list<Object*> arguments, Object* keyword_names);
Reference call_method(Object* interned_name, Object* object);
Reference call_method(Object* interned_name, Object* object, Object* argument);

Reference interned(const char* text);
Reference keyword_names(const char* keyword);
Reference integer(int64_t value);
Reference text(std::string_view value);
Reference bytes(std::string_view value);
Reference new_list(size_t size);
// Takes `item` over.
void set_item(Object* list, size_t index, Reference item);
Reference tuple_of(const std::vector<int64_t>& values);
Object* true_object();
// An object that holds `pointer`, which outlives it.
Reference capsule(void* pointer);
// An object that shows these `size` bytes through the buffer protocol, read-only, and keeps them.
Reference memory(std::shared_ptr<char> bytes, int64_t size);
// A callable without arguments. `action` returns nothing; it runs with the GIL.
Reference function(const char* name, void (*action)());

// Reading values. Nothing where the object is of another type (an exception is then set).
std::optional<int64_t> to_integer(Object* object);
std::optional<std::string> to_text(Object* object);
std::optional<std::string> to_bytes(Object* object);
bool is_true(Object* object);
// The length and the items of a list or a tuple; 0 and null if it is neither, or shorter.
size_t size(Object* sequence);
Reference item(Object* sequence, size_t index);

}  // namespace framedex::mock::python
