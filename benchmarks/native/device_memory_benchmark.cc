// Times DeviceMemory at steady state: hundreds of live allocations of 64 B to 1 MB, one freed and one allocated at a
// time. Prints nanoseconds for a pair, beside malloc's in the same run.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include "pjrt/mock/devices/device_memory.h"

namespace {

constexpr int kLive = 400;
constexpr int kPairs = 2'000'000;

std::vector<int64_t> mixed_sizes(size_t count) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(6, 20);  // powers of two
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < count; ++i) sizes.push_back(static_cast<int64_t>(std::exp2(exponent(random))));
  return sizes;
}

double pair_nanoseconds(const std::vector<int64_t>& sizes, const std::function<void*(int64_t)>& allocate,
                        const std::function<void(void*)>& release) {
  std::vector<void*> live;
  for (int i = 0; i < kLive; ++i) live.push_back(allocate(sizes[static_cast<size_t>(i) % sizes.size()]));
  std::mt19937 random(2);
  std::vector<size_t> victims;
  for (int i = 0; i < kPairs; ++i) victims.push_back(random() % kLive);
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kPairs; ++i) {
    void*& place = live[victims[static_cast<size_t>(i)]];
    release(place);
    place = allocate(sizes[static_cast<size_t>(i) % sizes.size()]);
  }
  std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  for (void* address : live) release(address);
  return elapsed.count() / kPairs;
}

}  // namespace

int main() {
  for (size_t distinct : {1, 50, 997}) {
    std::vector<int64_t> sizes = mixed_sizes(distinct);
    framedex::mock::DeviceMemory memory(0, int64_t{16} << 30);
    double own = pair_nanoseconds(
        sizes, [&](int64_t bytes) { return memory.Allocate(bytes); }, [&](void* address) { memory.Free(address); });
    double host =
        pair_nanoseconds(sizes, [](int64_t bytes) { return std::malloc(static_cast<size_t>(bytes)); }, std::free);
    std::printf("{\"distinct_sizes\": %zu, \"device_memory_ns\": %.1f, \"malloc_ns\": %.1f}\n", distinct, own, host);
  }
}
