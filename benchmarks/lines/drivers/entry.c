/* The entry of a workload in a shared library, also of one whose own symbols are hidden. */

int main(int argc, char** argv);

__attribute__((visibility("default"))) int run_workload(int argc, char** argv) { return main(argc, argv); }
