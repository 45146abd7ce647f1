#pragma once

#include <cstddef>
#include <vector>

namespace framedex::extractor {

// Memory for the parse of one file, freed as a whole. tree-sitter allocates and frees millions of small nodes. In an
// arena, each costs a pop or a push on a free list, and trees need not be freed.
//
// Not thread-safe. `use` makes it tree-sitter's memory on the current thread; without an arena, tree-sitter uses
// malloc.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  void* allocate(size_t size);
  void* reallocate(void* memory, size_t size);
  void release(void* memory);

  // Frees everything allocated. Keeps a few blocks for the next file.
  void reset();

  // Bytes in blocks since the last reset.
  size_t used() const { return used_; }

 private:
  void* carve(size_t size);

  static constexpr int kClasses = 96;
  void* free_[kClasses] = {};
  char* position_ = nullptr;
  char* end_ = nullptr;
  size_t next_block_ = 0;
  size_t used_ = 0;
  std::vector<char*> blocks_;
  std::vector<void*> large_;
};

// Makes `arena` tree-sitter's memory on this thread during its lifetime, and resets the arena at the end.
class ArenaInUse {
 public:
  explicit ArenaInUse(Arena& arena);
  ArenaInUse(const ArenaInUse&) = delete;
  ArenaInUse& operator=(const ArenaInUse&) = delete;
  ~ArenaInUse();

 private:
  Arena& arena_;
};

}  // namespace framedex::extractor
