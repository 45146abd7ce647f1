// A library with one function, and with CALLER defined a library that calls it through its own slot.
extern "C" {
double standin_mix(int a, long b, const char* text, double c, void* d, unsigned e, long f, long g, float h, long i);

#ifdef CALLER
double call_mix(void) { return standin_mix(-1, 2, "slot", 0.5, nullptr, 5, 6, 7, 1.5f, 1L << 40); }
#else
double standin_mix(int a, long b, const char* text, double c, void*, unsigned e, long f, long g, float h, long i) {
  return a + b + text[0] + c + e + f + g + h + i;
}
#endif
}
