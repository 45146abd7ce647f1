#include "pjrt/mock/process_identity.h"

#include <dlfcn.h>

#include <string_view>

namespace framedex::mock {
namespace {

struct PyObject;

// CPython, found in the process that runs us: the library links against none.
template <typename Function>
Function python(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

class Interpreter {
 public:
  bool is_running() const {
    return is_initialized_ != nullptr && ensure_ != nullptr && release_ != nullptr && modules_ != nullptr &&
           item_ != nullptr && attribute_ != nullptr && number_ != nullptr && forget_ != nullptr &&
           clear_error_ != nullptr && is_initialized_() != 0;
  }

  // jax.distributed's state: present once the module was imported, `client` set once it was initialized.
  std::optional<ProcessIdentity> distributed_state() const {
    int gil = ensure_();
    std::optional<ProcessIdentity> found;
    PyObject* modules = modules_();
    PyObject* module = modules == nullptr ? nullptr : item_(modules, "jax._src.distributed");
    PyObject* state = module == nullptr ? nullptr : attribute_(module, "global_state");
    if (state != nullptr) {
      ProcessIdentity identity{whole_number(state, "process_id"), whole_number(state, "num_processes")};
      if (identity.index >= 0 && identity.count > 1) found = identity;
      forget_(state);
    }
    clear_error_();
    release_(gil);
    return found;
  }

 private:
  int whole_number(PyObject* object, const char* name) const {
    PyObject* value = attribute_(object, name);
    if (value == nullptr) return -1;
    long number = number_(value);
    forget_(value);
    return static_cast<int>(number);
  }

  int (*is_initialized_)() = python<int (*)()>("Py_IsInitialized");
  int (*ensure_)() = python<int (*)()>("PyGILState_Ensure");
  void (*release_)(int) = python<void (*)(int)>("PyGILState_Release");
  PyObject* (*modules_)() = python<PyObject* (*)()>("PyImport_GetModuleDict");  // borrowed
  PyObject* (*item_)(PyObject*, const char*) = python<PyObject* (*)(PyObject*, const char*)>("PyDict_GetItemString");
  PyObject* (*attribute_)(PyObject*,
                          const char*) = python<PyObject* (*)(PyObject*, const char*)>("PyObject_GetAttrString");
  long (*number_)(PyObject*) = python<long (*)(PyObject*)>("PyLong_AsLong");
  void (*forget_)(PyObject*) = python<void (*)(PyObject*)>("Py_DecRef");
  void (*clear_error_)() = python<void (*)()>("PyErr_Clear");
};

std::optional<ProcessIdentity> from_options(const PJRT_NamedValue* options, size_t count) {
  ProcessIdentity identity{-1, 0};
  for (size_t i = 0; options != nullptr && i < count; ++i) {
    std::string_view name(options[i].name, options[i].name_size);
    if (options[i].type != PJRT_NamedValue_kInt64) continue;
    if (name == "node_id") identity.index = static_cast<int>(options[i].int64_value);
    if (name == "num_nodes") identity.count = static_cast<int>(options[i].int64_value);
  }
  if (identity.index < 0 || identity.count <= 1) return std::nullopt;
  return identity;
}

}  // namespace

std::optional<ProcessIdentity> process_identity(const PJRT_NamedValue* options, size_t count) {
  if (std::optional<ProcessIdentity> identity = from_options(options, count)) return identity;
  Interpreter interpreter;
  return interpreter.is_running() ? interpreter.distributed_state() : std::nullopt;
}

}  // namespace framedex::mock
