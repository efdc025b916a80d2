// One step of a recurrent layer, and the loop over its steps, as functions of our operators: LSTM with all that the format has
// for it, and plain cells.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "import/loop_function.h"
#include "import/tflite/tflite_file.h"

namespace intarsia::tflite {

inline constexpr size_t kLstmGates = 4;  // input, forget, cell, output

// What a step needs beside what it is given. Integer weights want rows that are quantised as the model runs.
struct SequenceCell {
  bool is_lstm = true, backwards = false, asymmetric = false;
  bool together = false;  // asymmetric, and one range for all rows
  int64_t steps = 1, batches = 1, units = 1, outputs = 1;
  size_t gates = kLstmGates;  // 3: what is forgotten is accepted; 1: of a plain cell
  format::Activation activation = format::Activation::Tanh;
  float cell_clip = 0, projection_clip = 0;
  import::MadeConstant recurrent;  // [gates * units, outputs]
  std::array<std::optional<import::MadeConstant>, kLstmGates> peepholes, norms, norm_biases;
  std::optional<import::MadeConstant> projection, projection_bias;

  // Of the products of all gates.
  int64_t columns() const { return static_cast<int64_t>(gates) * units; }
};

// Of the gates' products with the input[B,gates * units], the hidden state[B,outputs] and, of an LSTM, the cell
// state[B,units]: both states behind the step.
graph::Function sequence_step(graph::Module& module, std::string name, const SequenceCell& cell);
// Of the step's number, these products of all steps, the states and all results: whether there is another step, and what each
// of them is behind it.
graph::Function sequence_goes_on(graph::Module& module, std::string name, const SequenceCell& cell);
graph::Function sequence_body(graph::Module& module, std::string name, const SequenceCell& cell);

}  // namespace intarsia::tflite
