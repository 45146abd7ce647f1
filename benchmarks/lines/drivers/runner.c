/* Runs the workload that is in a shared library: runner LIBRARY [ARGUMENTS...]. */

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  void* library = dlopen(argv[1], RTLD_NOW);
  int (*run)(int, char**) = library ? (int (*)(int, char**))dlsym(library, "run_workload") : 0;
  if (!run) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  return run(argc - 1, argv + 1);
}
