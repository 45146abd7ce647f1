#pragma once

#include <cstddef>
#include <vector>

namespace framedex::extractor {

// Memory for the parse of one file, given back as a whole. tree-sitter allocates and frees small nodes by the million;
// here that is a pop and a push, and nobody has to free a tree.
//
// Not thread-safe. `use` makes it the memory of tree-sitter on the current thread; without one, tree-sitter uses
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

  // Gives back everything allocated. A few blocks stay for the next file.
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

// Makes `arena` tree-sitter's memory on this thread for as long as the object lives, and resets it at the end.
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
