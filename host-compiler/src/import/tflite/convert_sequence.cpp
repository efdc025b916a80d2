// Recurrent layers that are several operators of ours: plain ones, LSTM with what our own operator has not, and both in two
// directions. Of floats, or of floats on integer weights.
#include <cmath>

#include <fmt/ranges.h>

#include "import/tflite/sequence_step.h"
#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;
using import::real_of;
using import::zeros;

constexpr size_t kNoOperand = Converted::kAbsent;

struct LayerOptions {
  format::Activation activation = format::Activation::None;
  float cell_clip = 0, projection_clip = 0;
  bool time_major = true, merges = false, asymmetric = false, diagonal = false, is_basic = false;
};

std::optional<LayerOptions> layer_options(OperatorReader& in) {
  using enum format::Activation;
  switch (in.op().code) {
    case kRNN:
      if (const auto* o = in.required_options<format::RnnOptions>())
        return LayerOptions{.activation = o->activation(), .asymmetric = o->asymmetric_inputs()};
      break;
    case kUNIDIRECTIONAL_SEQUENCE_RNN:
      if (const auto* o = in.required_options<format::SequenceRnnOptions>())
        return LayerOptions{.activation = o->activation(),
                            .time_major = o->time_major(),
                            .asymmetric = o->asymmetric_inputs()};
      break;
    case kBIDIRECTIONAL_SEQUENCE_RNN:
      if (const auto* o = in.required_options<format::TwoWayRnnOptions>())
        return LayerOptions{.activation = o->activation(),
                            .time_major = o->time_major(),
                            .merges = o->merges(),
                            .asymmetric = o->asymmetric_inputs()};
      break;
    case kLSTM:
      if (const auto* o = in.required_options<format::LstmCellOptions>())
        return LayerOptions{.activation = o->activation(),
                            .cell_clip = o->cell_clip(),
                            .projection_clip = o->projection_clip(),
                            .asymmetric = o->asymmetric_inputs(),
                            .is_basic = o->kernel() == 1};
      break;
    case kUNIDIRECTIONAL_SEQUENCE_LSTM:
      if (const auto* o = in.required_options<format::LstmOptions>())
        return LayerOptions{.activation = o->activation(),
                            .cell_clip = o->cell_clip(),
                            .projection_clip = o->projection_clip(),
                            .time_major = o->time_major(),
                            .asymmetric = o->asymmetric_inputs(),
                            .diagonal = o->diagonal_recurrent()};
      break;
    default:
      if (const auto* o = in.required_options<format::TwoWayLstmOptions>())
        return LayerOptions{.activation = o->activation(),
                            .cell_clip = o->cell_clip(),
                            .projection_clip = o->projection_clip(),
                            .time_major = o->time_major(),
                            .merges = o->merges(),
                            .asymmetric = o->asymmetric_inputs()};
  }
  return std::nullopt;
}

// What our own operator computes is left to it.
bool is_lstm_of_ours(OperatorReader& in, const LayerOptions& options, bool widens_weights) {
  if (in.op().code != kUNIDIRECTIONAL_SEQUENCE_LSTM) return false;
  if (in.is_hybrid() && !widens_weights) return false;
  if (options.activation != format::Activation::Tanh || !in.has_input(1)) return false;
  for (const size_t i : {9u, 10u, 11u, 16u, 17u, 20u, 21u, 22u, 23u})
    if (in.has_input(i)) return false;
  return true;
}

}  // namespace

// Where the operator has what one direction needs.
struct SubgraphReader::Direction {
  std::vector<size_t> weights, recurrent, biases, peepholes, norms, further;  // by gate
  size_t projection = kNoOperand, projection_bias = kNoOperand, hidden = kNoOperand,
         cell = kNoOperand;
};

std::vector<SubgraphReader::Direction> SubgraphReader::directions_of(const OperatorInfo& op) {
  const auto from = [](size_t first, size_t count) {
    std::vector<size_t> places(count);
    for (size_t i = 0; i < count; ++i) places[i] = first + i;
    return places;
  };
  const auto plain = [&](size_t first) {
    return Direction{
        .weights = {first}, .recurrent = {first + 1}, .biases = {first + 2}, .hidden = first + 3};
  };
  const auto lstm = [&](size_t first, size_t state) {
    return Direction{.weights = from(first, 4),
                     .recurrent = from(first + 4, 4),
                     .biases = from(first + 11, 4),
                     .peepholes = {first + 8, first + 9, kNoOperand, first + 10},
                     .projection = first + 15,
                     .projection_bias = first + 16,
                     .hidden = state,
                     .cell = state + 1};
  };
  switch (op.code) {
    case kRNN:
    case kUNIDIRECTIONAL_SEQUENCE_RNN:
      return {plain(1)};
    case kBIDIRECTIONAL_SEQUENCE_RNN: {
      std::vector<Direction> both{plain(1), plain(5)};
      both[0].further = {10}, both[1].further = {11};
      return both;
    }
    case kBIDIRECTIONAL_SEQUENCE_LSTM: {
      std::vector<Direction> both{lstm(1, 35), lstm(18, 37)};
      both[0].further = from(40, 4), both[1].further = from(44, 4);
      return both;
    }
    default: {
      Direction one = lstm(1, 18);
      one.norms = from(20, 4);
      return {one};
    }
  }
}

// The layer's constant at this operand; -1 where it has none.
int32_t SubgraphReader::operand_of(const OperatorInfo& op, size_t place) {
  return place < op.inputs.size() && op.inputs[place] >= 0 ? current(op.inputs[place]) : -1;
}

MadeConstant SubgraphReader::copied(int32_t id) {
  return {tensor(id), {bytes(id).begin(), bytes(id).end()}};
}

// A vector of floats, which the converter may have made integers of.
std::optional<MadeConstant> SubgraphReader::known_vector(const OperatorInfo& op, size_t place,
                                                         int64_t count) {
  int32_t id = operand_of(op, place);
  if (id < 0) return std::nullopt;
  const graph::Tensor& given = tensor(id);
  const bool is_byte = given.type == DataType::Int8 || given.type == DataType::Int4;
  if (bytes(id).empty() || given.shape != Shape{count} ||
      (given.type != DataType::Float32 && !(is_byte && given.quantization.present()))) {
    problem(op, fmt::format("has an operand {} that is no constant of {} floats", place, count));
    return std::nullopt;
  }
  if (is_byte) id = widened(id);
  return copied(id);
}

// The weights, or biases, of gates one below the other; -1 where there are none or they are not alike.
int32_t SubgraphReader::stacked_operands(const OperatorInfo& op, std::span<const size_t> places,
                                         std::string_view what) {
  std::vector<int32_t> gates;
  for (const size_t place : places)
    if (const int32_t id = operand_of(op, place); id >= 0)
      gates.push_back(!bytes(id).empty() && model_.options().widen_weights &&
                              tensor(id).type != DataType::Float32 &&
                              tensor(id).quantization.present()
                          ? widened(id)
                          : id);
  return gates.empty() ? -1 : stacked(op, gates, what);
}

int32_t SubgraphReader::product_of_rows(const OperatorInfo& op, int32_t input, int32_t weights,
                                        int32_t bias, bool asymmetric) {
  if (tensor(weights).type != DataType::Float32)
    return hybrid_product(op, input, weights, bias, asymmetric);
  const int64_t outputs = tensor(weights).shape[0], depth = tensor(weights).shape[1];
  const int64_t rows = element_count(tensor(input).shape) / depth;
  std::vector<int32_t> operands{input, weights};
  if (bias >= 0) operands.push_back(bias);
  return put(op, OpKind::FullyConnected, graph::FullyConnectedAttrs{}, operands,
             real_of({rows, outputs}));
}

// The function's nodes as nodes of the operator.
std::vector<int32_t> SubgraphReader::written_out(const OperatorInfo& op,
                                                 const graph::Module& module,
                                                 const graph::Function& function,
                                                 std::span<const int32_t> inputs) {
  std::vector<int32_t> ids(function.tensors.size(), -1);
  const auto at = [](graph::TensorId id) { return static_cast<size_t>(id.index); };
  for (size_t i = 0; i < inputs.size(); ++i) ids[at(function.inputs[i])] = inputs[i];
  const auto id_of = [&](graph::TensorId id) {
    if (!id.valid()) return -1;
    if (ids[at(id)] >= 0) return ids[at(id)];
    graph::Tensor made = function.tensor(id);
    if (!made.constant.valid()) return ids[at(id)] = make({std::move(made), {}});
    const SharedBytes& known = module.constant(made.constant).bytes;
    made.constant = {};
    const auto copied_here = [&] {
      return make({std::move(made), {known.data(), known.data() + known.size()}});
    };
    if (&module != &model_.module()) return ids[at(id)] = copied_here();
    // Once, however often a function of the model is written out.
    const auto [place, is_new] = written_constants_.try_emplace({function.name, id.index}, -1);
    if (is_new) place->second = copied_here();
    return ids[at(id)] = place->second;
  };
  for (const graph::Node& node : function.nodes) {
    Draft draft;
    draft.node.kind = node.kind;
    draft.node.name = unique_name(op.name + "_" + node.name);
    draft.node.attributes = node.attributes;
    for (const graph::TensorId id : node.inputs) draft.inputs.push_back(id_of(id));
    for (const graph::TensorId id : node.outputs) draft.outputs.push_back(id_of(id));
    drafts_.push_back(std::move(draft));
  }
  std::vector<int32_t> results;
  for (const graph::TensorId id : function.outputs) results.push_back(id_of(id));
  return results;
}

// All steps: their hidden states [T,B,U], or of a single one [B,U].
int32_t SubgraphReader::put_steps(const OperatorInfo& op, const SequenceCell& cell,
                                  std::string_view which, int32_t from_input,
                                  const Direction& direction) {
  const auto remembered = [&](std::string_view what, size_t place) {
    return remember(op, fmt::format("{}{}", which, what), real_of(tensor(op.inputs[place]).shape));
  };
  std::vector<VariableId> states{remembered("hidden", direction.hidden)};
  if (cell.is_lstm) states.push_back(remembered("cell", direction.cell));
  if (cell.steps == 1) {
    std::vector<int32_t> inputs{from_input};
    for (const VariableId id : states) inputs.push_back(value_of(id));
    graph::Module apart;
    const graph::Function step = sequence_step(apart, op.name, cell);
    const std::vector<int32_t> results = written_out(op, apart, step, inputs);
    for (size_t i = 0; i < states.size(); ++i) values_[states[i]] = results[i];
    return results[0];
  }
  const Shape gates{cell.steps, cell.batches, cell.columns()};
  const int32_t products =
      put(op, OpKind::Reshape, graph::ReshapeAttrs{gates}, {from_input}, real_of(gates));
  graph::Module& module = model_.module();
  const std::string condition = model_.function_name(fmt::format("{}_{}goes_on", op.name, which));
  const std::string body = model_.function_name(fmt::format("{}_{}step", op.name, which));
  module.functions.push_back(sequence_goes_on(module, condition, cell));
  module.functions.push_back(sequence_body(module, body, cell));
  Draft run;
  run.node.kind = OpKind::While;
  run.node.name = unique_name(fmt::format("{}_{}steps", op.name, which));
  run.node.attributes = graph::WhileAttrs{condition, body};
  run.inputs = {make(zeros("step", DataType::Int32, {})), products};
  for (const VariableId id : states) run.inputs.push_back(value_of(id));
  run.inputs.push_back(
      make(zeros("results", DataType::Float32, {cell.steps, cell.batches, cell.outputs})));
  for (const int32_t id : run.inputs) {
    graph::Tensor after = tensor(id);
    after.name = unique_name(op.name + "_after");
    after.constant = {}, after.variable = false;
    run.outputs.push_back(make({std::move(after), {}}));
  }
  for (size_t i = 0; i < states.size(); ++i) values_[states[i]] = run.outputs[2 + i];
  const int32_t results = run.outputs.back();
  drafts_.push_back(std::move(run));
  return results;
}

// What the operands say of one direction, and the products of its gates with the input and with what there is beside it. Sequences
// are here time first. -1 where something was reported.
int32_t SubgraphReader::read_direction(const OperatorInfo& op, const Direction& d, int32_t input,
                                       int32_t beside, SequenceCell& cell) {
  constexpr std::string_view kAlike =
      "floats, or int8 or int4 weights of one scale and float biases, are possible; or give "
      "--widen-weights";
  const auto refuse = [&](std::string what, std::string_view hint = {}) {
    problem(op, std::move(what), std::string(hint));
    return -1;
  };
  const Shape in = tensor(input).shape;
  cell.is_lstm = d.weights.size() == kLstmGates;
  const bool has_input_gate = cell.is_lstm && operand_of(op, d.weights[0]) >= 0;
  cell.gates = !cell.is_lstm ? 1 : has_input_gate ? kLstmGates : kLstmGates - 1;
  const auto present = [&](std::span<const size_t> places) {
    size_t count = 0;
    for (const size_t place : places) count += operand_of(op, place) >= 0 ? 1 : 0;
    return count;
  };
  const bool has_further = present(d.further) != 0;
  if (present(d.weights) != cell.gates || present(d.recurrent) != cell.gates ||
      present(d.biases) != cell.gates || (has_further && present(d.further) != cell.gates) ||
      (cell.gates == 3 &&
       (operand_of(op, d.recurrent[0]) >= 0 || operand_of(op, d.biases[0]) >= 0 ||
        (has_further && operand_of(op, d.further[0]) >= 0))))
    return refuse("lacks weights or biases of some of its gates");
  for (const std::vector<size_t>* group : {&d.weights, &d.recurrent, &d.further})
    for (const size_t place : *group)
      if (const int32_t id = operand_of(op, place); id >= 0 && tensor(id).shape.size() != 2)
        return refuse("has weights that are no matrices");
  const int32_t weights = stacked_operands(op, d.weights, "weights");
  const int32_t recurrent = stacked_operands(op, d.recurrent, "weights");
  int32_t biases = stacked_operands(op, d.biases, "biases");
  const int32_t further = has_further ? stacked_operands(op, d.further, "weights") : -1;
  if (weights < 0 || recurrent < 0 || biases < 0 || (has_further && further < 0) ||
      tensor(biases).type != DataType::Float32)
    return refuse("has gates whose constants are not alike", kAlike);

  const auto gates = static_cast<int64_t>(cell.gates);
  cell.units = tensor(weights).shape[0] / gates;
  cell.outputs = tensor(recurrent).shape[1];
  const Shape hidden{cell.batches, cell.outputs}, state{cell.batches, cell.units};
  const auto is_state = [&](size_t place, const Shape& shape) {
    return place < op.inputs.size() && op.inputs[place] >= 0 &&
           tensors_.is_variable(op.inputs[place]) && tensor(op.inputs[place]).shape == shape;
  };
  const int32_t projection_id = operand_of(op, d.projection);
  if (tensor(weights).shape != Shape{gates * cell.units, in.back()} ||
      tensor(recurrent).shape != Shape{gates * cell.units, cell.outputs} ||
      tensor(biases).shape != Shape{gates * cell.units} ||
      (has_further &&
       tensor(further).shape != Shape{gates * cell.units, tensor(beside).shape.back()}) ||
      (projection_id < 0 && cell.outputs != cell.units))
    return refuse("has operands whose shapes do not belong together");
  if (!is_state(d.hidden, hidden) || (cell.is_lstm && !is_state(d.cell, state)))
    return refuse(fmt::format("needs states that are variables of [{}]", fmt::join(hidden, ",")) +
                  (cell.is_lstm ? fmt::format(" and [{}]", fmt::join(state, ",")) : ""));
  // The loop begins with results of zeros, which are a constant.
  constexpr int64_t kMostResults = int64_t{1} << 24;
  if (cell.steps > 1 && cell.steps * cell.batches * cell.outputs > kMostResults)
    return refuse(fmt::format("makes {} results in {} steps",
                              cell.steps * cell.batches * cell.outputs, cell.steps),
                  fmt::format("at most {} are possible; give it fewer steps", kMostResults));
  cell.recurrent = copied(recurrent);
  if (projection_id >= 0) {
    const std::vector<size_t> one{d.projection};
    const int32_t projection =
        tensor(projection_id).shape.empty() ? -1 : stacked_operands(op, one, "projection");
    if (projection < 0) return refuse("has a projection that is no constant", kAlike);
    if (tensor(projection).shape != Shape{cell.outputs, cell.units})
      return refuse("has operands whose shapes do not belong together");
    cell.projection = copied(projection);
    cell.projection_bias = known_vector(op, d.projection_bias, cell.outputs);
  }
  for (size_t gate = 0; gate < d.peepholes.size(); ++gate)
    cell.peepholes[gate] = known_vector(op, d.peepholes[gate], cell.units);
  for (size_t gate = kLstmGates - cell.gates; gate < d.norms.size(); ++gate) {
    cell.norms[gate] = known_vector(op, d.norms[gate], cell.units);
    if (cell.norms[gate]) cell.norm_biases[gate] = known_vector(op, d.biases[gate], cell.units);
  }
  const size_t norms = present(d.norms);
  if (norms != 0 && norms != cell.gates) return refuse("normalises some of its gates alone");
  if (norms != 0) biases = -1;
  if (!problems_.empty()) return -1;

  const int32_t products = product_of_rows(op, input, weights, biases, cell.asymmetric);
  if (!has_further) return products;
  const int32_t others = product_of_rows(op, beside, further, -1, cell.asymmetric);
  return put(op, OpKind::Add, graph::BinaryAttrs{}, {products, others},
             real_of(tensor(products).shape));
}

bool SubgraphReader::compose_sequence(const OperatorInfo& op, OperatorReader& in) {
  const std::optional<LayerOptions> options = layer_options(in);
  if (!options || !in.clean()) return true;
  const bool is_ours = op.code == kUNIDIRECTIONAL_SEQUENCE_LSTM;
  if (is_ours && in.input(0).type != DataType::Float32) return false;
  if (options->is_basic) return compose_lstm_cell(op, in), true;
  // Gates may differ, and the first may be absent.
  for (const size_t weights : {1u, 2u})
    if (in.has_input(weights) && in.clean()) in.check_hybrid(weights);
  if (!in.clean() || is_lstm_of_ours(in, *options, model_.options().widen_weights))
    return !in.clean();
  const auto refuse = [&](std::string what, std::string hint = {}) {
    return in.problem(std::move(what), std::move(hint)), true;
  };
  if (!is_model_)
    return refuse("keeps state inside of a branch or a loop", "move it to the model itself");
  if (in.input(0).type != DataType::Float32)
    return refuse(fmt::format("computes on {}; f32 is possible", to_string(in.input(0).type)),
                  "UNIDIRECTIONAL_SEQUENCE_LSTM takes i8 and i16 too");
  if (options->activation < format::Activation::None ||
      options->activation > format::Activation::Tanh)
    return refuse("has an activation other than relu, relu6, relu_n1_to_1 and tanh");
  if (options->diagonal) return refuse("has diagonal recurrent weights");
  for (const float clip : {options->cell_clip, options->projection_clip})
    if (!std::isfinite(clip) || clip < 0) return refuse(fmt::format("has the clip {}", clip));

  const std::vector<Direction> directions = directions_of(op);
  if (op.inputs.size() <= directions.back().hidden)
    return refuse(
        fmt::format("has {} inputs, but takes {}", op.inputs.size(), directions.back().hidden + 2));
  const bool is_step = op.code == kRNN || op.code == kLSTM;
  const bool merges = directions.size() > 1 && options->merges;
  const size_t makes = merges ? 1 : directions.size();
  if (op.outputs.size() != makes)
    return refuse(fmt::format("has {} outputs, but makes {}", op.outputs.size(), makes));
  const Shape shape = in.input(0).shape;
  if (shape.size() != (is_step ? 2u : 3u))
    return refuse(fmt::format("reads sequences of [{}]", fmt::join(shape, ",")));
  const int64_t steps = is_step ? 1 : shape[options->time_major ? 0 : 1];
  const int64_t batches = is_step ? shape[0] : shape[options->time_major ? 1 : 0];

  // Time first.
  const bool turns = !is_step && !options->time_major && batches > 1 && steps > 1;
  const auto ordered = [&](int32_t id) {
    return turns ? put(op, OpKind::Transpose, graph::TransposeAttrs{{1, 0, 2}}, {id},
                       real_of({steps, batches, tensor(id).shape.back()}))
                 : id;
  };
  const size_t beside_at = op.code == kBIDIRECTIONAL_SEQUENCE_LSTM  ? 39
                           : op.code == kBIDIRECTIONAL_SEQUENCE_RNN ? 9
                                                                    : kNoOperand;
  int32_t beside = operand_of(op, beside_at);
  if (beside >= 0) {
    Shape alike = tensor(beside).shape;
    if (tensor(beside).type != DataType::Float32 || alike.size() != 3 || alike[0] != shape[0] ||
        alike[1] != shape[1])
      return refuse("has a second input that is no sequence of floats as long as the first");
  }
  const bool is_crossed =
      directions.size() > 1 && operand_of(op, directions[0].further.back()) >= 0;
  if (is_crossed && beside < 0) return refuse("has weights for a second input, which it lacks");
  // LiteRT's kernel forgets this second input there.
  if (beside >= 0 && !is_crossed && op.code == kBIDIRECTIONAL_SEQUENCE_RNN && !options->time_major)
    return refuse("reads a second input, batches first, which LiteRT leaves unread",
                  "convert the layer with time_major");
  const int32_t first = ordered(current(op.inputs[0]));
  if (beside >= 0) beside = ordered(beside);

  std::vector<int32_t> results;
  int64_t units = 0;
  for (size_t i = 0; i < directions.size(); ++i) {
    SequenceCell cell;
    cell.steps = steps, cell.batches = batches, cell.backwards = i == 1;
    cell.activation = options->activation, cell.asymmetric = options->asymmetric;
    cell.cell_clip = options->cell_clip, cell.projection_clip = options->projection_clip;
    // Without weights of its own the second input is what the second direction reads.
    const int32_t input = i == 1 && beside >= 0 && !is_crossed ? beside : first;
    const int32_t products =
        read_direction(op, directions[i], input, is_crossed ? beside : -1, cell);
    if (products < 0) return true;
    const std::string_view which = directions.size() == 1 ? "" : i == 0 ? "forward_" : "backward_";
    results.push_back(put_steps(op, cell, which, products, directions[i]));
    units += cell.outputs;
  }
  if (merges) {
    Shape joined = tensor(results[0]).shape;
    joined.back() = units;
    const auto axis = static_cast<int64_t>(joined.size()) - 1;
    results = {put(op, OpKind::Concat, graph::AxisAttrs{axis}, results, real_of(joined))};
  }
  for (size_t i = 0; i < results.size(); ++i) {
    Shape made = shape;
    made.back() = tensor(results[i]).shape.back();
    if (i == 0) in.decide_shape(made);
    if (!in.clean() || in.output(i).shape != made)
      return refuse("has operands whose shapes do not belong together");
    if (turns)
      put_last(op, OpKind::Transpose, graph::TransposeAttrs{{1, 0, 2}}, {results[i]}, i);
    else
      put_last(op, OpKind::Reshape, graph::ReshapeAttrs{made}, {results[i]}, i);
  }
  return true;
}

// TensorFlow 1's basic cell: input[B,I], hidden state[B,U], weights[4U,I+U], bias[4U], cell state[B,U]; the hidden state, the cell
// state, and what both are computed from. Gates: input, candidate, forget, output.
void SubgraphReader::compose_lstm_cell(const OperatorInfo& op, OperatorReader& in) {
  if (op.inputs.size() != 5 || op.outputs.size() != 4)
    return in.problem(fmt::format("has {} inputs and {} outputs, but takes 5 and makes 4",
                                  op.inputs.size(), op.outputs.size()));
  for (size_t i = 0; i < 5; ++i)
    if (!in.has_input(i) || in.input(i).type != DataType::Float32)
      return in.problem(fmt::format("needs an input {} of f32", i));
  // Also batches by more axes, of one element each.
  const Shape weights = in.input(2).shape, state = in.input(4).shape;
  const int64_t units = state.empty() ? 0 : state.back();
  const int64_t inputs = in.input(0).shape.empty() ? 0 : in.input(0).shape.back();
  const int64_t batches = units == 0 ? 0 : element_count(state) / units;
  if (units < 1 || inputs < 1 || weights != Shape{4 * units, inputs + units} ||
      in.input(3).shape != Shape{4 * units} || in.input(1).shape != state ||
      element_count(in.input(0).shape) != batches * inputs || in.output(0).shape != state ||
      in.output(1).shape != state ||
      element_count(in.output(2).shape) != batches * (inputs + units) ||
      element_count(in.output(3).shape) != batches * 4 * units)
    return in.problem("has operands whose shapes do not belong together");
  const auto shaped = [&](int32_t id, const Shape& shape) {
    return tensor(id).shape == shape
               ? id
               : put(op, OpKind::Reshape, graph::ReshapeAttrs{shape}, {id}, real_of(shape));
  };
  const auto given = [&](size_t i) { return current(op.inputs[i]); };
  const Shape rows{batches, units};
  const Shape both{batches, inputs + units}, all{batches, 4 * units};
  const int32_t joined =
      put(op, OpKind::Concat, graph::AxisAttrs{1},
          {shaped(given(0), {batches, inputs}), shaped(given(1), rows)}, real_of(both));
  const int32_t sums = put(op, OpKind::FullyConnected, graph::FullyConnectedAttrs{},
                           {joined, given(2), given(3)}, real_of(all));
  const auto gate = [&](int64_t number, OpKind kind) {
    const graph::SliceAttrs part{{0, number * units}, rows, {1, 1}, {}};
    const int32_t sum = put(op, OpKind::Slice, part, {sums}, real_of(rows));
    return put(op, kind, graph::NoAttrs{}, {sum}, real_of(rows));
  };
  const auto binary = [&](OpKind kind, int32_t a, int32_t b) {
    return put(op, kind, graph::BinaryAttrs{}, {a, b}, real_of(rows));
  };
  const int32_t added = binary(OpKind::Mul, gate(0, OpKind::Logistic), gate(1, OpKind::Tanh));
  const int32_t kept = binary(OpKind::Mul, gate(2, OpKind::Logistic), shaped(given(4), rows));
  const int32_t cell = binary(OpKind::Add, added, kept);
  const int32_t content = put(op, OpKind::Tanh, graph::NoAttrs{}, {cell}, real_of(rows));
  const int32_t hidden = binary(OpKind::Mul, gate(3, OpKind::Logistic), content);
  put_last(op, OpKind::Reshape, graph::ReshapeAttrs{state}, {hidden}, 0);
  put_last(op, OpKind::Reshape, graph::ReshapeAttrs{state}, {cell}, 1);
  put_last(op, OpKind::Reshape, graph::ReshapeAttrs{in.output(2).shape}, {joined}, 2);
  put_last(op, OpKind::Reshape, graph::ReshapeAttrs{in.output(3).shape}, {sums}, 3);
}

}  // namespace intarsia::tflite
