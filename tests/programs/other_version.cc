// In LD_PRELOAD: has this process's Python say that it is of the version in PYTHON_SAYS.
#include <cstdlib>

extern "C" const char* Py_GetVersion() { return std::getenv("PYTHON_SAYS"); }
