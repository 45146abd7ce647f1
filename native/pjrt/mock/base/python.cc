#include "pjrt/mock/base/python.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <initializer_list>
#include <mutex>
#include <vector>

#include "pjrt/mock/base/forks.h"

namespace framedex::mock::python {
namespace {

// PyMethodDef; the same in every version.
struct MethodDefinition {
  const char* name;
  Object* (*function)(Object* self, Object* arguments);
  int flags;
  const char* documentation;
};
// PyType_Spec and PyType_Slot; the same in every version.
struct TypeSlot {
  int slot;
  void* value;
};
struct TypeSpecification {
  const char* name;
  int size;
  int item_size;
  unsigned int flags;
  TypeSlot* slots;
};
// PyObject; the same in every version with a GIL.
struct ObjectHead {
  ptrdiff_t references;
  Object* type;
};
constexpr int kGetBuffer = 1;                            // Py_bf_getbuffer
constexpr int kDeallocate = 52;                          // Py_tp_dealloc
constexpr unsigned int kNotCallable = 1U << 7;           // Py_TPFLAGS_DISALLOW_INSTANTIATION
constexpr int kNoArguments = 4;                          // METH_NOARGS
constexpr int kFileInput = 257;                          // Py_file_input
constexpr size_t kArgumentsOffset = ~(~size_t{0} >> 1);  // PY_VECTORCALL_ARGUMENTS_OFFSET

// The CPython functions in use. All but the two for finalization are in every supported version.
struct Functions {
  int (*Py_IsInitialized)();
  int (*Py_IsFinalizing)();
  int (*PyGILState_Ensure)();
  void (*PyGILState_Release)(int);
  int (*PyGILState_Check)();
  void* (*PyEval_SaveThread)();
  void (*PyEval_RestoreThread)(void*);
  void (*Py_IncRef)(Object*);
  void (*Py_DecRef)(Object*);
  void (*PyErr_Fetch)(Object**, Object**, Object**);
  void (*PyErr_NormalizeException)(Object**, Object**, Object**);
  void (*PyErr_Clear)();
  int (*PyErr_GivenExceptionMatches)(Object*, Object*);
  void (*PyErr_SetInterrupt)();
  Object* (*PyObject_Str)(Object*);
  Object* (*PyObject_GetAttrString)(Object*, const char*);
  Object* (*PyObject_Vectorcall)(Object*, Object* const*, size_t, Object*);
  Object* (*PyObject_VectorcallMethod)(Object*, Object* const*, size_t, Object*);
  int (*PyObject_IsTrue)(Object*);
  Object* (*PyUnicode_InternFromString)(const char*);
  Object* (*PyUnicode_FromStringAndSize)(const char*, ptrdiff_t);
  const char* (*PyUnicode_AsUTF8AndSize)(Object*, ptrdiff_t*);
  Object* (*PyBytes_FromStringAndSize)(const char*, ptrdiff_t);
  int (*PyBytes_AsStringAndSize)(Object*, char**, ptrdiff_t*);
  Object* (*PyLong_FromLongLong)(long long);
  long long (*PyLong_AsLongLong)(Object*);
  Object* (*PyErr_Occurred)();
  Object* (*PyList_New)(ptrdiff_t);
  int (*PyList_SetItem)(Object*, ptrdiff_t, Object*);
  Object* (*PyTuple_New)(ptrdiff_t);
  int (*PyTuple_SetItem)(Object*, ptrdiff_t, Object*);
  ptrdiff_t (*PySequence_Size)(Object*);
  Object* (*PySequence_GetItem)(Object*, ptrdiff_t);
  Object* (*PyDict_New)();
  int (*PyDict_SetItemString)(Object*, const char*, Object*);
  Object* (*PyDict_GetItemString)(Object*, const char*);
  Object* (*PyEval_GetBuiltins)();
  Object* (*PyImport_GetModule)(Object*);
  Object* (*Py_CompileString)(const char*, const char*, int);
  Object* (*PyEval_EvalCode)(Object*, Object*, Object*);
  Object* (*PyCapsule_New)(void*, const char*, void (*)(Object*));
  void* (*PyCapsule_GetPointer)(Object*, const char*);
  Object* (*PyCFunction_NewEx)(MethodDefinition*, Object*, Object*);
  Object* (*PyType_FromSpec)(TypeSpecification*);
  Object* (*PyType_GenericAlloc)(Object*, ptrdiff_t);
  void (*PyObject_Free)(void*);
  int (*PyBuffer_FillInfo)(void*, Object*, void*, ptrdiff_t, int, int);
  Object* true_object;
  Object* none;
  Object** keyboard_interrupt;
};

template <typename Member>
bool find(Member& member, const char* name) {
  member = reinterpret_cast<Member>(dlsym(RTLD_DEFAULT, name));
  return member != nullptr;
}

std::optional<Functions> find_functions() {
  Functions f{};
  // Public from 3.13 on; earlier versions have it under a private name.
  bool found = find(f.Py_IsFinalizing, "Py_IsFinalizing") || find(f.Py_IsFinalizing, "_Py_IsFinalizing");
#define FIND(name) found = find(f.name, #name) && found
  FIND(Py_IsInitialized);
  FIND(PyGILState_Ensure);
  FIND(PyGILState_Release);
  FIND(PyGILState_Check);
  FIND(PyEval_SaveThread);
  FIND(PyEval_RestoreThread);
  FIND(Py_IncRef);
  FIND(Py_DecRef);
  FIND(PyErr_Fetch);
  FIND(PyErr_NormalizeException);
  FIND(PyErr_Clear);
  FIND(PyErr_GivenExceptionMatches);
  FIND(PyErr_SetInterrupt);
  FIND(PyObject_Str);
  FIND(PyObject_GetAttrString);
  FIND(PyObject_Vectorcall);
  FIND(PyObject_VectorcallMethod);
  FIND(PyObject_IsTrue);
  FIND(PyUnicode_InternFromString);
  FIND(PyUnicode_FromStringAndSize);
  FIND(PyUnicode_AsUTF8AndSize);
  FIND(PyBytes_FromStringAndSize);
  FIND(PyBytes_AsStringAndSize);
  FIND(PyLong_FromLongLong);
  FIND(PyLong_AsLongLong);
  FIND(PyErr_Occurred);
  FIND(PyList_New);
  FIND(PyList_SetItem);
  FIND(PyTuple_New);
  FIND(PyTuple_SetItem);
  FIND(PySequence_Size);
  FIND(PySequence_GetItem);
  FIND(PyDict_New);
  FIND(PyDict_SetItemString);
  FIND(PyDict_GetItemString);
  FIND(PyEval_GetBuiltins);
  FIND(PyImport_GetModule);
  FIND(Py_CompileString);
  FIND(PyEval_EvalCode);
  FIND(PyCapsule_New);
  FIND(PyCapsule_GetPointer);
  FIND(PyCFunction_NewEx);
  FIND(PyType_FromSpec);
  FIND(PyType_GenericAlloc);
  FIND(PyObject_Free);
  FIND(PyBuffer_FillInfo);
#undef FIND
  found = find(f.true_object, "_Py_TrueStruct") && found;
  found = find(f.none, "_Py_NoneStruct") && found;
  found = find(f.keyboard_interrupt, "PyExc_KeyboardInterrupt") && found;
  return found ? std::optional<Functions>(f) : std::nullopt;
}

const std::optional<Functions>& found_functions() {
  static const std::optional<Functions> functions = find_functions();
  return functions;
}

const Functions& api() { return *found_functions(); }

// References dropped without the GIL.
struct DroppedReferences {
  const ProcessOwner owner;
  std::mutex mutex;
  std::vector<Object*> objects;
  std::atomic<size_t> count{0};
};

DroppedReferences& dropped() {
  static DroppedReferences* const instance =
      new DroppedReferences;  // never destroyed: references are dropped until the process ends
  return *instance;
}

// Imports the package of this name from its folder, outside sys.path, and leaves it in `module`.
constexpr char kImport[] = R"(
import importlib.util, os, sys
module = sys.modules.get(name)
if module is None:
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
)";

// The object that memory() returns.
struct MemoryObject {
  ObjectHead head;
  std::shared_ptr<char> bytes;
  ptrdiff_t size;
};

int show_memory(MemoryObject* memory, void* view, int flags) {
  constexpr int kReadOnly = 1;
  auto* object = reinterpret_cast<Object*>(memory);
  return api().PyBuffer_FillInfo(view, object, memory->bytes.get(), memory->size, kReadOnly, flags);
}

void deallocate_memory(MemoryObject* memory) {
  Object* type = memory->head.type;
  memory->bytes.~shared_ptr();
  api().PyObject_Free(memory);
  api().Py_DecRef(type);
}

Object* make_memory_type() {
  TypeSlot slots[] = {{kGetBuffer, reinterpret_cast<void*>(&show_memory)},
                      {kDeallocate, reinterpret_cast<void*>(&deallocate_memory)},
                      {0, nullptr}};
  TypeSpecification specification{"framedex_mock_tpu.Memory", sizeof(MemoryObject), 0, kNotCallable, slots};
  return api().PyType_FromSpec(&specification);
}

constexpr std::array<std::pair<std::string_view, PJRT_Error_Code>, 16> kCodes = {{
    {"CANCELLED", PJRT_Error_Code_CANCELLED},
    {"UNKNOWN", PJRT_Error_Code_UNKNOWN},
    {"INVALID_ARGUMENT", PJRT_Error_Code_INVALID_ARGUMENT},
    {"DEADLINE_EXCEEDED", PJRT_Error_Code_DEADLINE_EXCEEDED},
    {"NOT_FOUND", PJRT_Error_Code_NOT_FOUND},
    {"ALREADY_EXISTS", PJRT_Error_Code_ALREADY_EXISTS},
    {"PERMISSION_DENIED", PJRT_Error_Code_PERMISSION_DENIED},
    {"RESOURCE_EXHAUSTED", PJRT_Error_Code_RESOURCE_EXHAUSTED},
    {"FAILED_PRECONDITION", PJRT_Error_Code_FAILED_PRECONDITION},
    {"ABORTED", PJRT_Error_Code_ABORTED},
    {"OUT_OF_RANGE", PJRT_Error_Code_OUT_OF_RANGE},
    {"UNIMPLEMENTED", PJRT_Error_Code_UNIMPLEMENTED},
    {"INTERNAL", PJRT_Error_Code_INTERNAL},
    {"UNAVAILABLE", PJRT_Error_Code_UNAVAILABLE},
    {"DATA_LOSS", PJRT_Error_Code_DATA_LOSS},
    {"UNAUTHENTICATED", PJRT_Error_Code_UNAUTHENTICATED},
}};

}  // namespace

bool is_usable() {
  return found_functions().has_value() && api().Py_IsInitialized() != 0 && api().Py_IsFinalizing() == 0;
}

bool has_gil() { return api().PyGILState_Check() != 0; }

Gil::Gil() : state_(api().PyGILState_Ensure()) { release_dropped(); }
Gil::~Gil() { api().PyGILState_Release(state_); }

WithoutGil::WithoutGil() {
  if (is_usable() && api().PyGILState_Check() != 0) thread_ = api().PyEval_SaveThread();
}
WithoutGil::~WithoutGil() {
  if (thread_ == nullptr) return;
  // During finalization Python ends a thread that requests the GIL, which must not happen inside this destructor. So
  // the thread waits here until the process ends.
  while (!is_usable()) pause();
  api().PyEval_RestoreThread(thread_);
}

Reference::~Reference() {
  if (object_ != nullptr) api().Py_DecRef(object_);
}

OwnedReference::~OwnedReference() {
  DroppedReferences& all = dropped();
  if (object_ == nullptr || !all.owner) return;
  std::lock_guard lock(all.mutex);
  all.objects.push_back(object_);
  all.count.store(all.objects.size(), std::memory_order_relaxed);
}

size_t dropped_count() { return dropped().count.load(std::memory_order_relaxed); }

size_t release_dropped() {
  if (dropped_count() == 0 || !dropped().owner) return 0;
  std::vector<Object*> objects;
  {
    std::lock_guard lock(dropped().mutex);
    objects.swap(dropped().objects);
    dropped().count.store(0, std::memory_order_relaxed);
  }
  for (Object* object : objects) api().Py_DecRef(object);
  return objects.size();
}

void release_dropped_with_gil() {
  if (dropped_count() > 0 && is_usable()) Gil gil;
}

Reference share(Object* borrowed) {
  api().Py_IncRef(borrowed);
  return Reference(borrowed);
}

Status status_of(std::string message) {
  for (const auto& [name, code] : kCodes) {
    if (message.compare(0, name.size(), name) == 0 && message.compare(name.size(), 2, ": ") == 0) {
      return {code, message.substr(name.size() + 2)};
    }
  }
  return {PJRT_Error_Code_INTERNAL, std::move(message)};
}

Status take_error() {
  Object* type = nullptr;
  Object* value = nullptr;
  Object* traceback = nullptr;
  api().PyErr_Fetch(&type, &value, &traceback);
  api().PyErr_NormalizeException(&type, &value, &traceback);
  Reference held_type(type);
  Reference held_value(value);
  Reference held_traceback(traceback);
  Reference message(value != nullptr ? api().PyObject_Str(value) : nullptr);
  std::optional<std::string> described = message ? to_text(message.get()) : std::nullopt;
  api().PyErr_Clear();
  if (held_type && api().PyErr_GivenExceptionMatches(held_type.get(), *api().keyboard_interrupt) != 0) {
    // The interrupt is for the program: Python raises it again when the program next runs.
    api().PyErr_SetInterrupt();
    return {PJRT_Error_Code_CANCELLED, "interrupted by the keyboard"};
  }
  return status_of(described.value_or("an exception without a description was raised in Python"));
}

Reference import_from(const std::string& folder, const char* module) {
  Reference globals(api().PyDict_New());
  Reference name = text(module);
  Reference path = text(folder);
  if (!globals || !name || !path) return {};
  api().PyDict_SetItemString(globals.get(), "__builtins__", api().PyEval_GetBuiltins());
  api().PyDict_SetItemString(globals.get(), "name", name.get());
  api().PyDict_SetItemString(globals.get(), "folder", path.get());
  Reference code(api().Py_CompileString(kImport, "<framedex>", kFileInput));
  if (!code) return {};
  Reference result(api().PyEval_EvalCode(code.get(), globals.get(), globals.get()));
  return result ? share(api().PyDict_GetItemString(globals.get(), "module")) : Reference();
}

Reference loaded_module(const char* name) {
  Reference key = text(name);
  Reference module(key ? api().PyImport_GetModule(key.get()) : nullptr);
  if (!module) api().PyErr_Clear();
  return module;
}

Reference attribute(Object* object, const char* name) { return Reference(api().PyObject_GetAttrString(object, name)); }

Reference call(Object* callable, std::initializer_list<Object*> arguments) {
  return Reference(api().PyObject_Vectorcall(callable, arguments.begin(), arguments.size(), nullptr));
}

Reference call_with_keyword(Object* callable, std::initializer_list<Object*> arguments, Object* keyword_names) {
  return Reference(api().PyObject_Vectorcall(callable, arguments.begin(), arguments.size() - 1, keyword_names));
}

Reference call_method(Object* interned_name, Object* object) {
  Object* arguments[] = {nullptr, object};
  return Reference(api().PyObject_VectorcallMethod(interned_name, arguments + 1, 1 | kArgumentsOffset, nullptr));
}

Reference call_method(Object* interned_name, Object* object, Object* argument) {
  Object* arguments[] = {nullptr, object, argument};
  return Reference(api().PyObject_VectorcallMethod(interned_name, arguments + 1, 2 | kArgumentsOffset, nullptr));
}

Reference interned(const char* text) { return Reference(api().PyUnicode_InternFromString(text)); }

Reference keyword_names(const char* keyword) {
  Reference names(api().PyTuple_New(1));
  if (names) api().PyTuple_SetItem(names.get(), 0, api().PyUnicode_InternFromString(keyword));
  return names;
}

Reference integer(int64_t value) { return Reference(api().PyLong_FromLongLong(value)); }

Reference text(std::string_view value) {
  return Reference(api().PyUnicode_FromStringAndSize(value.data(), static_cast<ptrdiff_t>(value.size())));
}

Reference bytes(std::string_view value) {
  return Reference(api().PyBytes_FromStringAndSize(value.data(), static_cast<ptrdiff_t>(value.size())));
}

Reference new_list(size_t size) { return Reference(api().PyList_New(static_cast<ptrdiff_t>(size))); }

void set_item(Object* list, size_t index, Reference item) {
  api().PyList_SetItem(list, static_cast<ptrdiff_t>(index), item.release());
}

Reference tuple_of(const std::vector<int64_t>& values) {
  Reference tuple(api().PyTuple_New(static_cast<ptrdiff_t>(values.size())));
  for (size_t i = 0; tuple && i < values.size(); ++i) {
    api().PyTuple_SetItem(tuple.get(), static_cast<ptrdiff_t>(i), integer(values[i]).release());
  }
  return tuple;
}

Object* true_object() { return api().true_object; }

Reference capsule(void* pointer) { return Reference(api().PyCapsule_New(pointer, nullptr, nullptr)); }

Reference memory(std::shared_ptr<char> bytes, int64_t size) {
  static Object* const type = make_memory_type();
  Reference object(type != nullptr ? api().PyType_GenericAlloc(type, 0) : nullptr);
  if (!object) return {};
  auto* made = reinterpret_cast<MemoryObject*>(object.get());
  new (&made->bytes) std::shared_ptr<char>(std::move(bytes));
  made->size = static_cast<ptrdiff_t>(size);
  return object;
}

Reference function(const char* name, void (*action)()) {
  // A method definition must live as long as the functions created from it.
  auto* definition = new MethodDefinition{name, nullptr, kNoArguments, nullptr};
  definition->function = [](Object* self, Object*) -> Object* {
    reinterpret_cast<void (*)()>(api().PyCapsule_GetPointer(self, nullptr))();
    api().Py_IncRef(api().none);
    return api().none;
  };
  Reference self = capsule(reinterpret_cast<void*>(action));
  return self ? Reference(api().PyCFunction_NewEx(definition, self.get(), nullptr)) : Reference();
}

std::optional<int64_t> to_integer(Object* object) {
  int64_t value = api().PyLong_AsLongLong(object);
  if (value == -1 && api().PyErr_Occurred() != nullptr) return std::nullopt;
  return value;
}

std::optional<std::string> to_text(Object* object) {
  ptrdiff_t size = 0;
  const char* data = api().PyUnicode_AsUTF8AndSize(object, &size);
  if (data == nullptr) return std::nullopt;
  return std::string(data, static_cast<size_t>(size));
}

std::optional<std::string> to_bytes(Object* object) {
  char* data = nullptr;
  ptrdiff_t size = 0;
  if (api().PyBytes_AsStringAndSize(object, &data, &size) != 0) return std::nullopt;
  return std::string(data, static_cast<size_t>(size));
}

size_t size(Object* sequence) {
  ptrdiff_t count = api().PySequence_Size(sequence);
  if (count < 0) api().PyErr_Clear();
  return count < 0 ? 0 : static_cast<size_t>(count);
}

Reference item(Object* sequence, size_t index) {
  Reference found(api().PySequence_GetItem(sequence, static_cast<ptrdiff_t>(index)));
  if (!found) api().PyErr_Clear();
  return found;
}

bool is_true(Object* object) { return api().PyObject_IsTrue(object) == 1; }

}  // namespace framedex::mock::python
