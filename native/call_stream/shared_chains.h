// Finds the shared outer part of two calls' stacks.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture_reader/capture_reader.h"

namespace framedex::call_stream {

class SharedChains {
 public:
  struct SharedChain {
    uint32_t chain;    // index in chains(); kNoChain if no Python frame is shared
    bool is_one_line;  // whether the chain has all Python frames of both stacks
  };
  static constexpr uint32_t kNoChain = 0xFFFFFFFF;

  // The tables may grow, and must outlive this.
  SharedChains(const std::vector<capture::Stack>& stacks, const std::vector<capture::Frame>& frames)
      : stacks_(stacks), frames_(frames) {}

  // Returns the outer part that two stacks share. The arguments are indexes of stacks.
  SharedChain find(uint32_t first, uint32_t second);
  // Returns distinct chains of frames, innermost first: the outer parts of stacks.
  const std::vector<std::vector<uint32_t>>& chains() const { return chains_; }

 private:
  SharedChain compare(uint32_t first, uint32_t second);
  bool is_python(uint32_t frame) const { return frames_[frame].language == FrameLanguage::kPython; }

  using FrameLanguage = capture::FrameLanguage;
  const std::vector<capture::Stack>& stacks_;
  const std::vector<capture::Frame>& frames_;
  std::unordered_map<uint64_t, SharedChain> known_;  // by the pair of stacks
  std::vector<std::vector<uint32_t>> chains_;
  std::map<std::vector<uint32_t>, uint32_t> chain_ids_;
};

}  // namespace framedex::call_stream
