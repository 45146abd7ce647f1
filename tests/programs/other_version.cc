// For LD_PRELOAD: makes this process's Python report the version in PYTHON_SAYS.
#include <cstdlib>

extern "C" const char* Py_GetVersion() { return std::getenv("PYTHON_SAYS"); }
