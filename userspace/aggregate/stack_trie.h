// StackTrie: stacks as nodes of a prefix tree (root first), so that common callers are kept once.
// One thread.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "userspace/aggregate/frame.h"

namespace lumbre {

using StackId = std::uint32_t;  // a node; 0 is the empty stack

class StackTrie {
 public:
  StackTrie() : nodes_(1) {}

  StackId insert(std::span<const FrameId> root_first) {
    StackId node = 0;
    for (const FrameId frame : root_first) {
      const std::uint64_t edge = std::uint64_t{node} << 32 | frame;
      const auto [at, is_new] = children_.try_emplace(edge, static_cast<StackId>(nodes_.size()));
      if (is_new) {
        nodes_.push_back({node, frame});
      }
      node = at->second;
    }
    return node;
  }

  std::vector<FrameId> leaf_first(StackId stack) const {
    std::vector<FrameId> frames;
    for (; stack != 0; stack = nodes_[stack].parent) {
      frames.push_back(nodes_[stack].frame);
    }
    return frames;
  }
  std::size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    StackId parent = 0;
    FrameId frame = 0;
  };
  struct EdgeHash {
    std::size_t operator()(std::uint64_t edge) const noexcept {
      edge *= 0x9e3779b97f4a7c15ULL;
      return edge ^ (edge >> 32);
    }
  };
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, StackId, EdgeHash> children_;
};

}  // namespace lumbre
