// TFLite Micro's own operators that keep state: what they remember is a variable of the model, and what they do with it are
// operators of ours.
#include <cstring>

#include <fmt/ranges.h>

#include "import/tflite/custom_options.h"
#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

constexpr int64_t kMostSteps = 64;  // of one invocation, each of which becomes operators
constexpr int64_t kMostInvocations = 1
                                     << 30;  // until the model goes on: they are counted in 32 bits

Shape with_last(Shape shape, int64_t extent) {
  shape.back() = extent;
  return shape;
}

graph::Tensor like(const graph::Tensor& tensor, Shape shape) {
  graph::Tensor made{.type = tensor.type, .shape = std::move(shape)};
  made.quantization = tensor.quantization;
  return made;
}

MadeConstant whole_numbers(std::string name, Shape shape, const std::vector<int32_t>& values) {
  MadeConstant made{{.name = std::move(name), .type = DataType::Int32, .shape = std::move(shape)},
                    std::vector<uint8_t>(values.size() * sizeof(int32_t))};
  std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}

MadeConstant one_number(int32_t value) {
  return whole_numbers("number", {}, {value});
}

graph::Tensor number() {
  return {.type = DataType::Int32};
}
graph::Tensor truth() {
  return {.type = DataType::Bool};
}

}  // namespace

// A part of the last axis.
int32_t SubgraphReader::part_of(const OperatorInfo& op, int32_t from, int64_t begin, int64_t size) {
  const graph::Tensor& whole = tensor(from);
  const size_t rank = whole.shape.size();
  if (begin == 0 && size == whole.shape.back()) return from;
  graph::SliceAttrs part{
      std::vector<int64_t>(rank), with_last(whole.shape, size), std::vector<int64_t>(rank, 1), {}};
  part.begin.back() = begin;
  const graph::Tensor result = like(whole, part.size);
  return put(op, OpKind::Slice, part, {from}, result);
}

VariableId SubgraphReader::remember(const OperatorInfo& op, std::string_view what,
                                    graph::Tensor kept, std::vector<uint8_t> initial) {
  kept.name = fmt::format("{}_{}", op.name, what);
  const std::string name = kept.name;
  return model_.add_variable({name, std::move(kept), std::move(initial)});
}

// What was remembered with the input behind it, and the last of both remembered. `length`: of the last axis.
int32_t SubgraphReader::behind_memory(const OperatorInfo& op, OperatorReader& in, int64_t length) {
  const graph::Tensor input = in.input(0);
  const VariableId id = remember(op, "state", like(input, with_last(input.shape, length)));
  const int64_t all = length + input.shape.back();
  const auto axis = static_cast<int64_t>(input.shape.size()) - 1;
  const int32_t joined =
      put(op, OpKind::Concat, graph::AxisAttrs{axis}, {value_of(id), current(op.inputs[0])},
          like(input, with_last(input.shape, all)));
  values_[id] = part_of(op, joined, all - length, length);
  return joined;
}

void SubgraphReader::compose_delay(const OperatorInfo& op, OperatorReader& in) {
  const int64_t length = CustomOptions(in).integer("delay_length");
  const Shape& shape = in.input(0).shape;
  if (!in.clean()) return;
  if (length < 1 || length > kLargestTensor || shape.empty())
    return in.problem(fmt::format("delays by {} samples; 1 or more are possible", length));
  const int32_t joined = behind_memory(op, in, length);
  const size_t rank = shape.size();
  graph::SliceAttrs part{std::vector<int64_t>(rank), shape, std::vector<int64_t>(rank, 1), {}};
  put_last(op, OpKind::Slice, part, {joined});
}

// Whether what an operator gives counts: from `needed` steps on.
void SubgraphReader::count_steps(const OperatorInfo& op, int64_t steps, int64_t needed) {
  const VariableId id = remember(op, "steps", number());
  const int32_t seen = value_of(id);
  const int32_t enough = make(one_number(static_cast<int32_t>(needed)));
  put_last(op, OpKind::GreaterEqual, graph::NoAttrs{}, {seen, enough}, 1);
  const int32_t now = put(op, OpKind::Add, graph::BinaryAttrs{},
                          {seen, make(one_number(static_cast<int32_t>(steps)))}, number());
  values_[id] = put(op, OpKind::Minimum, graph::NoAttrs{}, {now, enough}, number());
}

void SubgraphReader::compose_framer(const OperatorInfo& op, OperatorReader& in) {
  CustomOptions options(in);
  const int64_t size = options.integer("frame_size"), step = options.integer("frame_step");
  const bool filled = options.integer("prefill", 0) != 0;
  const graph::Tensor input = in.input(0), output = in.output();
  if (!in.clean()) return;
  if (step < 1 || size < step || size > kLargestTensor || input.shape.empty() ||
      input.shape.back() % step != 0)
    return in.problem(fmt::format("makes frames of {} samples, {} apart, of [{}]", size, step,
                                  fmt::join(input.shape, ",")),
                      "frames as long as a step or longer, and inputs of whole steps are possible");
  const int64_t steps = input.shape.back() / step, most = (size + step - 1) / step;
  if (steps > kMostSteps)
    return in.problem(
        fmt::format("takes {} steps at once; 1 to {} are possible", steps, kMostSteps));
  const int64_t kept = filled ? size - step : (most - 1) * step;
  const int32_t joined = kept == 0 ? current(op.inputs[0]) : behind_memory(op, in, kept);
  Shape frame = with_last(input.shape, size);
  frame.insert(frame.end() - 1, 1);
  const auto axis = static_cast<int64_t>(frame.size()) - 2;
  std::vector<int32_t> frames;
  for (int64_t i = 0; i < steps; ++i) {
    const int32_t samples = part_of(op, joined, i * step, size);
    if (steps == 1) {
      put_last(op, OpKind::Reshape, graph::ReshapeAttrs{frame}, {samples});
      break;
    }
    frames.push_back(
        put(op, OpKind::Reshape, graph::ReshapeAttrs{frame}, {samples}, like(output, frame)));
  }
  if (steps > 1) put_last(op, OpKind::Concat, graph::AxisAttrs{axis}, frames);
  count_steps(op, steps, filled ? 0 : most - 1);
}

// The first frame counts for all that would be before it; then one result for every `step` frames.
void SubgraphReader::compose_stacker(const OperatorInfo& op, OperatorReader& in) {
  CustomOptions options(in);
  const int64_t channels = options.integer("num_channels"), step = options.integer("stacker_step"),
                left = options.integer("stacker_left_context"),
                right = options.integer("stacker_right_context");
  const graph::Tensor input = in.input(0), output = in.output();
  if (!in.clean()) return;
  if (input.shape != Shape{channels} || left < 0 || right < 0 || step < 1 ||
      left + right > kLargestTensor || step > left + right + 1)
    return in.problem(fmt::format("stacks {} + 1 + {} frames of {} channels, {} apart, of [{}]",
                                  left, right, channels, step, fmt::join(input.shape, ",")),
                      "steps of 1 to all stacked frames are possible");
  // -2 before the first frame, then -1 + the number of frames since then or since the last result.
  const VariableId id = remember(op, "age", number(), {254, 255, 255, 255});
  const int32_t old = value_of(id);
  const auto whole = [&](int64_t value) { return make(one_number(static_cast<int32_t>(value))); };
  const auto binary = [&](OpKind kind, int32_t a, int32_t b) {
    return put(op, kind, graph::NoAttrs{}, {a, b}, number());
  };
  const int32_t now = put(op, OpKind::Add, graph::BinaryAttrs{},
                          {binary(OpKind::Maximum, old, whole(-1)), whole(1)}, number());
  const int32_t ends =
      put(op, OpKind::Equal, graph::NoAttrs{}, {now, whole(right + step - 1)}, truth());
  const int32_t first = put(op, OpKind::Equal, graph::NoAttrs{}, {old, whole(-2)}, truth());
  int32_t joined = current(op.inputs[0]);
  if (const int64_t before = left + right; before > 0) {
    const graph::Tensor kept = like(input, {before * channels});
    const VariableId memory = remember(op, "state", kept);
    const int32_t repeated =
        put(op, OpKind::Tile, graph::TileAttrs{{before}}, {current(op.inputs[0])}, kept);
    const int32_t held =
        put(op, OpKind::Select, graph::NoAttrs{}, {first, repeated, value_of(memory)}, kept);
    joined = put(op, OpKind::Concat, graph::AxisAttrs{0}, {held, joined},
                 like(input, {(before + 1) * channels}));
    values_[memory] = part_of(op, joined, channels, before * channels);
  }
  put_last(op, OpKind::Reshape, graph::ReshapeAttrs{output.shape}, {joined});
  put_last(op, OpKind::Equal, graph::NoAttrs{}, {now, whole(right)}, 1);
  values_[id] = put(op, OpKind::Select, graph::NoAttrs{}, {ends, whole(right - 1), now}, number());
}

// Frames that overlap become samples: what the next frames add to is remembered.
void SubgraphReader::compose_overlap_add(const OperatorInfo& op, OperatorReader& in) {
  const int64_t step = CustomOptions(in).integer("frame_step");
  const graph::Tensor input = in.input(0);
  if (!in.clean()) return;
  const size_t rank = input.shape.size();
  const int64_t size = rank < 2 ? 0 : input.shape[rank - 1],
                frames = rank < 2 ? 0 : input.shape[rank - 2];
  if (rank < 2 || step < 1 || step > size || frames > kMostSteps)
    return in.problem(
        fmt::format("adds frames of [{}], {} apart", fmt::join(input.shape, ","), step),
        fmt::format("1 to {} frames, no further apart than they are long, are possible",
                    kMostSteps));
  const bool real = input.type == DataType::Float32;
  if (!real && input.type != DataType::Int16)
    return in.problem(fmt::format("adds {}; i16 and f32 are possible", to_string(input.type)));
  if (step == size)
    return put_last(op, OpKind::Reshape, graph::ReshapeAttrs{in.output().shape},
                    {current(op.inputs[0])});
  Shape frame(input.shape.begin(), input.shape.end() - 2);
  const auto axis = static_cast<int64_t>(frame.size());
  frame.push_back(size);
  const VariableId id = remember(op, "state", like(input, with_last(frame, size - step)));
  int32_t kept = value_of(id);
  const graph::Tensor gap = like(input, with_last(frame, step));
  const int32_t silence = make({gap, std::vector<uint8_t>(static_cast<size_t>(gap.bytes()), 0)});
  std::vector<int32_t> samples;
  for (int64_t i = 0; i < frames; ++i) {
    graph::SliceAttrs part{std::vector<int64_t>(rank),
                           input.shape,
                           std::vector<int64_t>(rank, 1),
                           {static_cast<int64_t>(rank) - 2}};
    part.begin[rank - 2] = i, part.size[rank - 2] = 1;
    const int32_t added = put(op, OpKind::Slice, part, {current(op.inputs[0])}, like(input, frame));
    const int32_t before =
        put(op, OpKind::Concat, graph::AxisAttrs{axis}, {kept, silence}, like(input, frame));
    const int32_t sum = saturated_sum(op, added, before);
    samples.push_back(part_of(op, sum, 0, step));
    kept = part_of(op, sum, step, size - step);
  }
  put_last(op, OpKind::Concat, graph::AxisAttrs{axis}, samples);
  values_[id] = kept;
}

int32_t SubgraphReader::saturated_sum(const OperatorInfo& op, int32_t a, int32_t b) {
  const graph::Tensor result = tensor(a);
  if (result.type == DataType::Float32)
    return put(op, OpKind::Add, graph::BinaryAttrs{}, {a, b}, result);
  const graph::Tensor wide{.type = DataType::Int32, .shape = result.shape};
  const auto widened = [&](int32_t x) {
    return put(op, OpKind::Cast, graph::NoAttrs{}, {x}, wide);
  };
  int32_t sum = put(op, OpKind::Add, graph::BinaryAttrs{}, {widened(a), widened(b)}, wide);
  sum = put(op, OpKind::Minimum, graph::NoAttrs{}, {sum, make(one_number(32767))}, wide);
  sum = put(op, OpKind::Maximum, graph::NoAttrs{}, {sum, make(one_number(-32768))}, wide);
  return put(op, OpKind::Cast, graph::NoAttrs{}, {sum}, result);
}

void SubgraphReader::compose_spectral_subtraction(const OperatorInfo& op, OperatorReader& in) {
  CustomOptions options(in);
  graph::SpectralSubtractionAttrs a;
  a.taken = options.integer("smoothing"), a.kept = options.integer("one_minus_smoothing");
  a.odd_taken = options.integer("alternate_smoothing");
  a.odd_kept = options.integer("alternate_one_minus_smoothing");
  a.smoothing_bits = options.integer("smoothing_bits");
  a.bits = options.integer("spectral_subtraction_bits");
  a.least_remaining = options.integer("min_signal_remaining");
  a.clamped = options.integer("clamping") != 0;
  if (!in.clean()) return;
  const VariableId id = remember(op, "noise", like(in.input(0), in.input(0).shape));
  Draft draft;
  draft.node.kind = OpKind::SignalSpectralSubtraction;
  draft.node.name = op.name;
  draft.node.attributes = a;
  draft.inputs = {current(op.inputs[0]), value_of(id)};
  draft.outputs.assign(op.outputs.begin(), op.outputs.end());
  drafts_.push_back(std::move(draft));
  values_[id] = op.outputs[1];
}

void SubgraphReader::compose_circular_buffer(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor input = in.input(0), output = in.output();
  const int64_t cycle = CustomOptions(in).integer("cycles_max");
  if (!in.clean()) return;
  if (cycle < 1 || cycle > kMostInvocations)
    return in.problem(
        cycle == 0 ? std::string("does not say after how many inputs the model goes on")
                   : fmt::format("goes on after {} inputs", cycle),
        fmt::format("convert the model with cycles_max from 1 to {}", kMostInvocations));
  Shape slot = output.shape;
  if (slot.size() == 4) slot[1] = 1;
  if (slot.size() != 4 || input.shape != slot || output.shape[1] < 2 || input.type != output.type ||
      input.quantization != output.quantization)
    return in.problem(
        fmt::format("makes {}[{}] of {}[{}]", to_string(output.type), fmt::join(output.shape, ","),
                    to_string(input.type), fmt::join(input.shape, ",")),
        "needs inputs that are one slot of the output, with its quantisation");
  graph::Tensor later = like(output, output.shape);
  const VariableId id = remember(op, "slots", later);
  later.shape[1] -= 1;
  const graph::SliceAttrs part{{0, 1, 0, 0}, later.shape, {1, 1, 1, 1}, {}};
  const int32_t kept = put(op, OpKind::Slice, part, {value_of(id)}, later);
  if (output.variable) {
    values_[id] = put(op, OpKind::Concat, graph::AxisAttrs{1}, {kept, current(op.inputs[0])},
                      like(output, output.shape));
    same_as_[op.outputs[0]] = values_[id];
  } else {
    put_last(op, OpKind::Concat, graph::AxisAttrs{1}, {kept, current(op.inputs[0])});
    values_[id] = op.outputs[0];
  }
  if (cycle == 1) return;
  const VariableId count = remember(op, "count", number());
  const int32_t counted =
      put(op, OpKind::Add, graph::BinaryAttrs{}, {value_of(count), make(one_number(1))}, number());
  values_[count] = put(op, OpKind::FloorMod, graph::NoAttrs{},
                       {counted, make(one_number(static_cast<int32_t>(cycle)))}, number());
  put(op, OpKind::Equal, graph::NoAttrs{}, {values_[count], make(one_number(0))}, truth());
  early_ends_.push_back({&op, drafts_.size() - 1});
}

bool SubgraphReader::compose_stream(const OperatorInfo& op, OperatorReader& in) {
  using Compose = void (SubgraphReader::*)(const OperatorInfo&, OperatorReader&);
  static const std::map<std::string_view, Compose> kStreams = {
      {"SignalDelay", &SubgraphReader::compose_delay},
      {"SignalFramer", &SubgraphReader::compose_framer},
      {"SignalStacker", &SubgraphReader::compose_stacker},
      {"SignalOverlapAdd", &SubgraphReader::compose_overlap_add},
      {"SignalFilterBankSpectralSubtraction", &SubgraphReader::compose_spectral_subtraction},
      {"CIRCULAR_BUFFER", &SubgraphReader::compose_circular_buffer},
  };
  const auto found = kStreams.find(op.custom_code);
  if (found == kStreams.end()) return false;
  if (!is_model_)
    in.problem("keeps state inside of a branch or a loop", "move it to the model itself");
  else
    (this->*found->second)(op, in);
  return true;
}

}  // namespace intarsia::tflite
