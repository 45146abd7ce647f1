#include "fuzz/grammars.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

// The part of CPython's API that a wheel's module uses. Creating a capsule returns the grammar's address; creating a
// module returns the description of its only function.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern "C" __attribute__((visibility("default"))) PyObject* PyCapsule_New(void* pointer, const char*,
                                                                          PyCapsule_Destructor) {
  return static_cast<PyObject*>(pointer);
}
extern "C" __attribute__((visibility("default"))) PyObject* PyModule_Create2(PyModuleDef* definition, int) {
  return reinterpret_cast<PyObject*>(definition);
}
extern "C" __attribute__((visibility("default"))) PyObject* PyModuleDef_Init(PyModuleDef* definition) {
  return reinterpret_cast<PyObject*>(definition);
}

namespace framedex::fuzz {
namespace {

const TSLanguage* load(const char* path) {
  void* wheel = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  void* initialize = wheel != nullptr ? dlsym(wheel, "PyInit__binding") : nullptr;
  if (initialize == nullptr) {
    std::fprintf(stderr, "the grammar cannot be loaded: %s\n", dlerror());
    std::exit(2);
  }
  auto* definition = reinterpret_cast<PyModuleDef*>(reinterpret_cast<PyObject* (*)()>(initialize)());
  return reinterpret_cast<const TSLanguage*>(definition->m_methods[0].ml_meth(nullptr, nullptr));
}

}  // namespace

const extractor::Languages& languages() {
  static const extractor::Languages loaded(load(FRAMEDEX_CPP_GRAMMAR), load(FRAMEDEX_PYTHON_GRAMMAR));
  return loaded;
}

}  // namespace framedex::fuzz
