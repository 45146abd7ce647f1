// The tree of stacks: a stack is a path of frames from the root, node 0, so stacks share their outer parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace framedex::call_stream {

class StackTree {
 public:
  // Adds the node with the next number. A number without a node has the frame 0.
  void add(uint32_t parent, uint32_t frame);
  // Returns the node of a frame under a node. A missing node is added.
  uint32_t intern(uint32_t parent, uint32_t frame);

  size_t size() const { return parents_.size(); }
  uint32_t parent(size_t node) const { return parents_[node]; }
  uint32_t frame(size_t node) const { return frames_[node]; }

 private:
  // Returns the slot of a node, or the free slot for it.
  size_t find_slot(uint32_t parent, uint32_t frame) const;
  void insert(uint32_t node);

  std::vector<uint32_t> parents_;
  std::vector<uint32_t> frames_;
  std::vector<uint32_t> slots_;  // a hash table of nodes; 0: free. At most two thirds are used
  size_t used_ = 0;
};

}  // namespace framedex::call_stream
