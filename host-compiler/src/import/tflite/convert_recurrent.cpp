// SVDF and LSTM: operators with state.
#include <fmt/format.h>

#include <cmath>

#include "import/tflite/operator_reader.h"

namespace intarsia::tflite {

namespace {

void needs_variable(OperatorReader& in, size_t operand, std::string_view role) {
  if (!in.has_input(operand)) {
    in.problem(fmt::format("lacks its {}", role));
  } else if (!in.is_variable(operand)) {
    in.problem(fmt::format("needs its {} ({}) to be a variable", role, in.input_label(operand)));
  }
}

void needs_constant(OperatorReader& in, size_t operand, std::string_view role) {
  if (!in.has_input(operand)) in.problem(fmt::format("lacks its {}", role));
}

}  // namespace

Converted convert_svdf(OperatorReader& in) {
  graph::SvdfAttrs attrs;
  const auto* options = in.required_options<format::SvdfOptions>();
  needs_constant(in, 0, "input"), needs_constant(in, 1, "feature weights");
  needs_constant(in, 2, "time weights");
  needs_variable(in, 4, "activation state");
  in.check_hybrid(1);
  if (options == nullptr || !in.clean()) return {attrs};
  attrs.rank = in.positive(options->rank(), "rank");
  attrs.activation = in.activation(options->activation());
  Converted result{attrs};
  result.states = {4};
  result.asymmetric = options->asymmetric_inputs();
  return result;
}

// The format's operands: input; weights of the input for the gates input, forget, cell, output (1-4)
// and of the hidden state (5-8); peepholes (9-11); biases (12-15); projection (16, 17); hidden and
// cell state (18, 19); layer normalisation (20-23).
Converted convert_lstm(OperatorReader& in) {
  graph::LstmAttrs attrs;
  const auto* options = in.required_options<format::LstmOptions>();
  needs_constant(in, 0, "input");
  for (size_t i = 1; i < 9; ++i) needs_constant(in, i, "weights of a gate");
  for (size_t i = 12; i < 16; ++i) needs_constant(in, i, "bias of a gate");
  const auto refuse = [&](size_t first, size_t last, std::string_view what) {
    for (size_t i = first; i <= last; ++i) {
      if (!in.has_input(i)) continue;
      in.problem(
          fmt::format("has {} ({}), which is not computed on integers", what, in.input_label(i)),
          "convert the model as floats or with dynamic range quantisation");
    }
  };
  refuse(9, 11, "peephole weights"), refuse(16, 17, "a projection");
  refuse(20, 23, "layer normalisation");
  needs_variable(in, 18, "hidden state"), needs_variable(in, 19, "cell state");
  in.check_hybrid(1);
  if (options == nullptr || !in.clean()) return {attrs};
  if (options->activation() != format::Activation::Tanh) {
    in.problem("has an activation other than tanh, which is not computed on integers",
               "convert the model as floats or with dynamic range quantisation");
  }
  if (options->diagonal_recurrent()) in.problem("has diagonal recurrent weights");
  attrs.time_major = options->time_major();
  attrs.cell_clip = options->cell_clip();
  if (!std::isfinite(attrs.cell_clip) || attrs.cell_clip < 0) {
    in.problem(fmt::format("has the cell clip {}", attrs.cell_clip));
  }
  Converted result{attrs};
  result.operands = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 15, 18, 19};
  result.states = {18, 19};
  result.asymmetric = options->asymmetric_inputs();
  return result;
}

}  // namespace intarsia::tflite
