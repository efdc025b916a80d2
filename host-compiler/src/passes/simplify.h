// The steps of eliminate_dead_channels() that look at one operator and its neighbours. Each edits one function of a module
// that the caller owns until nothing is left to do, appends what it did, and leaves the module verified
// (unused tensors and constants apart).
#pragma once

#include "passes/dead_channel_elimination.h"

namespace intarsia::passes {

// A function to be reduced, in a module that is a copy.
struct EliminationJob {
  graph::Module& module;
  size_t index;  // of the function
  const EliminationOptions& options;
  std::vector<EliminationStep>& actions;

  graph::Function& function() const { return module.functions[index]; }
  // Pinned operators stay where their user put them.
  bool must_stay(const graph::Node& node) const {
    return !node.pin.empty() || options.keep.contains(node.name);
  }
};

// Makes a Step of the function and lets it change one thing, `once`, until it finds nothing left to do: what it knows of the
// function is never stale. True when something changed.
template <typename Step>
bool repeat(const EliminationJob& job) {
  bool changed = false;
  while (Step(job).once()) changed = true;
  return changed;
}

// Operators that give back what they get; chains of operators on single elements; activations of their
// own; operators on constants; operators nobody reads. True when something changed.
bool simplify(const EliminationJob& job);

// pad -> convolution, max-pool or pad. True when something changed.
bool fold_padding(const EliminationJob& job);

// pad -> reshape that only adds or drops axes of one element -> window: the pad comes behind the reshape, where the window can
// take it over. True when something changed.
bool move_padding(const EliminationJob& job);

// space_to_batch -> convolution -> batch_to_space, which is how older converters write a dilated convolution: it becomes one.
// True when something changed.
bool fold_dilation(const EliminationJob& job);

// tile -> tile, each along an axis of one element with reshapes around, which is how Keras 3 writes an enlargement of pictures:
// it becomes resize_nearest. True when something changed.
bool fold_repeats(const EliminationJob& job);

// Gathers at known places that are slices, or an order of the next convolution's weights. True when something changed.
bool fold_gathers(const EliminationJob& job);

// compare -> select between int8 and a limit of int8: a mask that is a function of one integer, and the less, or the larger, of both.
// True when something changed.
bool fold_masks(const EliminationJob& job);

// What moves floats that are functions of single integers, and what they become integers for again, moves the integers: before
// the dequantize, or behind the quantize. True when something changed.
bool move_floats(const EliminationJob& job);

// Inputs become integers before their elements are moved, and bytes unsigned behind it. True when something changed.
bool quantise_first(const EliminationJob& job);

// Channels that are the same for every input, or unread. True when something changed.
bool remove_channels(const EliminationJob& job);

}  // namespace intarsia::passes
