#include "extractor/trees/arena.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "extractor/trees/allocation.h"

namespace framedex::extractor {
namespace {

constexpr size_t kHeader = 16;  // before each piece: its size class; keeps the piece aligned
constexpr size_t kFine = 64;    // classes of 16 bytes each, up to 1 KiB; then one per power of two
constexpr size_t kBlock = 1 << 20;
constexpr size_t kKeptBlocks = 16;

// Plain pointers, so that access needs no initialisation check.
__attribute__((tls_model("initial-exec"))) thread_local Arena* current = nullptr;

size_t class_of(size_t size) {
  if (size <= kFine * 16) return (size + 15) / 16;
  return kFine + static_cast<size_t>(64 - __builtin_clzll((size - 1) >> 10));
}

size_t size_of(size_t size_class) {
  return size_class <= kFine ? size_class * 16 : size_t{1024} << (size_class - kFine);
}

size_t& class_in(void* memory) { return *reinterpret_cast<size_t*>(static_cast<char*>(memory) - kHeader); }

void* require(void* memory) {
  if (memory == nullptr) std::abort();  // like tree-sitter's own allocator: its callers expect no failure
  return memory;
}

}  // namespace

Arena::~Arena() {
  reset();
  for (char* block : blocks_) std::free(block);
}

void* Arena::allocate(size_t size) {
  const size_t size_class = class_of(size);
  if (void* memory = free_[size_class]) {
    free_[size_class] = *static_cast<void**>(memory);
    return memory;
  }
  char* memory = static_cast<char*>(carve(size_of(size_class) + kHeader)) + kHeader;
  class_in(memory) = size_class;
  return memory;
}

void* Arena::reallocate(void* memory, size_t size) {
  if (memory == nullptr) return allocate(size);
  const size_t held = size_of(class_in(memory));
  if (size <= held) return memory;
  void* larger = allocate(size);
  std::memcpy(larger, memory, held);
  release(memory);
  return larger;
}

void Arena::release(void* memory) {
  if (memory == nullptr) return;
  const size_t size_class = class_in(memory);
  *static_cast<void**>(memory) = free_[size_class];
  free_[size_class] = memory;
}

void* Arena::carve(size_t size) {
  if (size > kBlock / 4) {
    used_ += size;
    large_.push_back(require(std::malloc(size)));
    return large_.back();
  }
  if (position_ == nullptr || size > static_cast<size_t>(end_ - position_)) {
    if (next_block_ == blocks_.size()) blocks_.push_back(static_cast<char*>(require(std::malloc(kBlock))));
    position_ = blocks_[next_block_++];
    end_ = position_ + kBlock;
    used_ += kBlock;
  }
  char* piece = position_;
  position_ += size;
  return piece;
}

void Arena::reset() {
  for (void* memory : large_) std::free(memory);
  large_.clear();
  while (blocks_.size() > kKeptBlocks) {
    std::free(blocks_.back());
    blocks_.pop_back();
  }
  std::memset(free_, 0, sizeof free_);
  position_ = end_ = nullptr;
  next_block_ = used_ = 0;
}

ArenaInUse::ArenaInUse(Arena& arena) : arena_(arena) { current = &arena; }

ArenaInUse::~ArenaInUse() {
  current = nullptr;
  arena_.reset();
}

}  // namespace framedex::extractor

void* framedex_allocate(size_t size) {
  using namespace framedex::extractor;
  return current ? current->allocate(size) : require(std::malloc(size));
}

void* framedex_allocate_zeroed(size_t count, size_t size) {
  using namespace framedex::extractor;
  if (!current) return require(std::calloc(count, size));
  return std::memset(current->allocate(count * size), 0, count * size);
}

void* framedex_reallocate(void* memory, size_t size) {
  using namespace framedex::extractor;
  return current ? current->reallocate(memory, size) : require(std::realloc(memory, size));
}

void framedex_release(void* memory) {
  using namespace framedex::extractor;
  if (current) {
    current->release(memory);
  } else {
    std::free(memory);
  }
}
