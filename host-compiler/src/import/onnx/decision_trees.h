// Decision trees as tables: one way to compare for all of them, and children beside each other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// From a place, feature <= threshold leads to `next` and 1, else (where the feature is no number, too) to `next`. A leaf, whose threshold is no
// number, leads to itself. Features from `width` on are negated ones.
struct DecisionTrees {
  std::vector<int64_t> feature, next;
  std::vector<float> threshold;
  std::vector<int64_t> leaf;     // by place: the row of the leaf's weights, 0 for others
  std::vector<int64_t> roots;    // places, one of each tree
  std::vector<int64_t> of_tree;  // by root: the file's number of the tree
  int64_t steps = 0;             // from a root to the furthest leaf
  bool has_negated = false;
  // What is added up, a row of `targets` for each kind of leaf: row 0 is all zeros.
  int64_t targets = 1;
  // By root: the one target that the tree weighs, where no tree weighs several, each target has as many trees and the roots are in
  // the order of targets (boosted trees of several classes). Else empty.
  std::vector<int64_t> only_target;
  std::vector<std::vector<float>> weights;

  int64_t rows() const { return std::ssize(weights); }
};

// The attributes nodes_* of a tree ensemble of `width` features, and the weights of its leaves: attributes that begin with `prefix`
// ("target" or "class"). A problem, and nothing, where they are no trees.
std::optional<DecisionTrees> read_trees(Reader& in, int64_t width, const std::string& prefix,
                                        int64_t targets);

}  // namespace intarsia::onnx
