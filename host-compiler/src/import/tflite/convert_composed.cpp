// Operators of the format that are several of ours.
#include <cmath>
#include <limits>

#include <fmt/ranges.h>

#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;
using import::counting;

// Ones on the diagonal.
MadeConstant diagonal(std::string name, int64_t rows, int64_t columns) {
  std::vector<uint8_t> bytes(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < std::min(rows, columns); ++i)
    bytes[static_cast<size_t>(i * columns + i)] = 1;
  return {{.name = std::move(name), .type = DataType::Bool, .shape = {rows, columns}}, bytes};
}

// A scalar of the tensor's type that stands for 0.
MadeConstant zero_of(const graph::Tensor& tensor) {
  const int64_t zero =
      tensor.quantization.present() ? tensor.quantization.zero_point[0] : int64_t{0};
  MadeConstant made{{.name = "zero", .type = tensor.type, .shape = {}}, {}};
  made.tensor.quantization = tensor.quantization;
  for (int byte = 0; byte < bits(tensor.type) / 8; ++byte)
    made.bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(zero) >> (8 * byte)));
  return made;
}

}  // namespace

int32_t SubgraphReader::put(const OperatorInfo& op, OpKind kind, graph::Attributes attributes,
                            std::vector<int32_t> inputs, graph::Tensor result) {
  Draft draft;
  draft.node.kind = kind;
  draft.node.name = unique_name(fmt::format("{}_{}", op.name, graph::to_string(kind)));
  draft.node.attributes = std::move(attributes);
  draft.inputs = std::move(inputs);
  result.name = draft.node.name;
  result.variable = false;
  draft.outputs = {make({std::move(result), {}})};
  const int32_t made = draft.outputs[0];
  drafts_.push_back(std::move(draft));
  return made;
}

void SubgraphReader::put_last(const OperatorInfo& op, OpKind kind, graph::Attributes attributes,
                              std::vector<int32_t> inputs, size_t output) {
  Draft draft;
  draft.node.kind = kind;
  draft.node.name = output == 0 ? op.name : unique_name(op.name + "_result");
  draft.node.attributes = std::move(attributes);
  draft.inputs = std::move(inputs);
  draft.outputs = {op.outputs[output]};
  if (op.outputs.size() == 1 && find_out(op, draft)) return;
  drafts_.push_back(std::move(draft));
}

// Between 0 and 1: clamped in the output's scale, as a fused activation is.
void SubgraphReader::compose_relu_0_to_1(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor output = in.output();
  int32_t x = current(op.inputs[0]);
  MadeConstant low = zero_of(output), high = low;
  if (output.type == DataType::Float32) {
    high = real_constant("one", {}, {1});
  } else if (output.type == DataType::Int8) {
    const float steps = std::round(1 / output.quantization.scale[0]);
    const auto one = static_cast<int64_t>(
        std::min(127.0f, static_cast<float>(output.quantization.zero_point[0]) + steps));
    high.bytes = {static_cast<uint8_t>(one)};
    if (in.input(0).quantization != output.quantization)
      x = put(op, OpKind::Quantize, graph::NoAttrs{}, {x}, output);
  } else {
    return in.problem(
        fmt::format("computes on {}; i8 and f32 are possible", to_string(output.type)));
  }
  const int32_t above = put(op, OpKind::Maximum, graph::NoAttrs{}, {x, make(low)}, output);
  put_last(op, OpKind::Minimum, graph::NoAttrs{}, {above, make(high)});
}

// Operands: indices, depth, the value at the index, the value elsewhere.
void SubgraphReader::compose_one_hot(const OperatorInfo& op, OperatorReader& in) {
  const auto* options = in.options<format::OneHotOptions>();
  const auto depth = in.integers(1, "its depth");
  const graph::Tensor &indices = in.input(0), &output = in.output();
  if (!depth || depth->size() != 1 || (*depth)[0] < 1 || (*depth)[0] > kLargestTensor)
    return in.clean() ? in.problem("needs a depth of 1 or more") : void();
  if (indices.type != DataType::Int32 && indices.type != DataType::Int64)
    return in.problem(fmt::format("has indices of type {}", to_string(indices.type)));
  const size_t rank = indices.shape.size() + 1;
  const int64_t axis = in.axis(options ? options->axis() : -1, rank);
  if (rank > kHighestRank || !in.clean())
    return in.clean() ? in.problem(fmt::format("makes rank {}", rank)) : void();
  if (!can_be_made(in, (*depth)[0], 1)) return;
  Shape spread = indices.shape;
  spread.insert(spread.begin() + axis, 1);
  Shape whole = spread;
  whole[static_cast<size_t>(axis)] = (*depth)[0];
  int32_t at = current(op.inputs[0]);
  if (indices.type == DataType::Int64)
    at = put(op, OpKind::Cast, graph::NoAttrs{}, {at},
             {.type = DataType::Int32, .shape = indices.shape});
  at = put(op, OpKind::Reshape, graph::ReshapeAttrs{spread}, {at},
           {.type = DataType::Int32, .shape = spread});
  const int32_t numbers = make(counting("classes", rank, static_cast<size_t>(axis), (*depth)[0]));
  const int32_t is_at = put(op, OpKind::Equal, graph::NoAttrs{}, {at, numbers},
                            {.type = DataType::Bool, .shape = whole});
  in.decide_shape(whole);
  if (in.input(2).type != output.type || in.input(3).type != output.type)
    return in.problem("has values of another type than its output");
  put_last(op, OpKind::Select, graph::NoAttrs{},
           {is_at, current(op.inputs[2]), current(op.inputs[3])});
}

// x * (bias + alpha * sum of squares of the channels around it) ^ -beta, with `radius` of them on either side, as TensorFlow
// defines it and LiteRT computes it (its reference kernel leaves the last one out). The sums are a pointwise convolution of
// the squares.
void SubgraphReader::compose_local_response(const OperatorInfo& op, OperatorReader& in) {
  const auto* options = in.required_options<format::LocalResponseNormalizationOptions>();
  const graph::Tensor image = in.input(0);
  if (options == nullptr) return;
  if (image.type != DataType::Float32 || image.shape.size() != 4)
    return in.problem("needs an image of floats");
  const int64_t channels = image.shape[3], radius = options->radius();
  constexpr int64_t kMostChannels = 1024;
  if (radius < 0 || channels > kMostChannels)
    return in.problem(fmt::format("has radius {} and {} channels", radius, channels),
                      fmt::format("0 or more, and at most {}, are possible", kMostChannels));
  std::vector<float> around(static_cast<size_t>(channels * channels));
  for (int64_t to = 0; to < channels; ++to)
    for (int64_t from = std::max<int64_t>(0, to - radius);
         from <= std::min(channels - 1, to + radius); ++from)
      around[static_cast<size_t>(to * channels + from)] = options->alpha();
  const int32_t x = current(op.inputs[0]);
  const int32_t squares = put(op, OpKind::Square, graph::NoAttrs{}, {x}, image);
  const int32_t weights = make(real_constant("neighbours", {channels, 1, 1, channels}, around));
  const int32_t bias = make(real_constant(
      "bias", {channels}, std::vector<float>(static_cast<size_t>(channels), options->bias())));
  const int32_t sums =
      put(op, OpKind::Conv2d, graph::Conv2dAttrs{}, {squares, weights, bias}, image);
  const int32_t exponent = make(real_constant("exponent", {}, {-options->beta()}));
  const int32_t factors = put(op, OpKind::Pow, graph::NoAttrs{}, {sums, exponent}, image);
  put_last(op, OpKind::Mul, graph::BinaryAttrs{}, {x, factors});
}

void SubgraphReader::compose_list_update(const OperatorInfo& op, const ListUpdate& update) {
  const auto rank = static_cast<int64_t>(tensor(update.list).shape.size());
  const graph::Tensor places{.type = DataType::Int32, .shape = {rank}};
  std::vector<int32_t> first(static_cast<size_t>(rank));
  first[0] = 1;
  const int32_t place = put(op, OpKind::Reshape, graph::ReshapeAttrs{{1}}, {current(update.place)},
                            {.type = DataType::Int32, .shape = {1}});
  const int32_t axis = make(
      {{.name = "first_axis", .type = DataType::Int32, .shape = {rank}}, little_endian(first)});
  const int32_t begin = put(op, OpKind::Mul, graph::BinaryAttrs{}, {place, axis}, places);
  put_last(op, OpKind::DynamicUpdateSlice, graph::NoAttrs{},
           {current(update.list), current(update.item), begin});
}

// The largest element and its first place, k times, each time without those found before. Integers are searched with 32 bits, which
// have a number that is less than all of fewer bits.
void SubgraphReader::compose_top_k(const OperatorInfo& op, OperatorReader& in) {
  const auto k = in.integers(1, "the number of elements");
  const graph::Tensor input = in.input(0);
  if (!k) return;
  constexpr int64_t kMost = 128;
  if (input.shape.empty() || k->size() != 1 || (*k)[0] < 1 || (*k)[0] > kMost ||
      (*k)[0] > input.shape.back())
    return in.problem(fmt::format("takes the [{}] largest of [{}]", fmt::join(*k, ","),
                                  fmt::join(input.shape, ",")),
                      fmt::format("1 to {} of the last axis are possible", kMost));
  const bool is_real = input.type == DataType::Float32;
  const DataType searched = is_real ? DataType::Float32 : DataType::Int32;
  const bool is_same = input.type == searched;
  const DataType index = in.output(1).type;
  if ((!is_real && input.type != DataType::Int8 && input.type != DataType::Int16 &&
       input.type != DataType::UInt8 && input.type != DataType::Int32) ||
      in.output(0).type != input.type || (index != DataType::Int32 && index != DataType::Int16))
    return in.problem(fmt::format("makes {} and {} of {}", to_string(in.output(0).type),
                                  to_string(in.output(1).type), to_string(input.type)),
                      "i8, u8, i16, i32 and f32, and indices of i32 and i16, are possible");
  if (!can_be_made(in, input.shape.back(), 1)) return;
  const auto axis = static_cast<int64_t>(input.shape.size()) - 1;
  Shape one = input.shape, outer = input.shape, found = input.shape;
  one.back() = 1, found.back() = (*k)[0];
  outer.pop_back();
  for (const int32_t id : op.outputs)
    if (tensors_.is_dynamic(id)) tensors_.set_shape(id, found);
  int32_t rest = current(op.inputs[0]);
  if (!is_same)
    rest =
        put(op, OpKind::Cast, graph::NoAttrs{}, {rest}, {.type = searched, .shape = input.shape});
  const int32_t places =
      make(counting("places", input.shape.size(), static_cast<size_t>(axis), input.shape.back()));
  const int32_t none =
      is_real ? make(real_constant("none", {}, {-std::numeric_limits<float>::infinity()}))
              : make(counting("none", 0, 0, 1, std::numeric_limits<int32_t>::min()));
  // What has been found counts as less than any element, also than one that is infinite: the floats are read where they are found.
  if (is_real)
    rest = put(op, OpKind::Maximum, graph::NoAttrs{},
               {rest, make(real_constant("lowest", {}, {std::numeric_limits<float>::lowest()}))},
               {.type = searched, .shape = input.shape});
  std::vector<int32_t> values, indices;
  const graph::Tensor decided{.type = DataType::Bool, .shape = input.shape};
  int32_t found_before = -1;  // of i32, whose least number may be an element as well
  for (int64_t i = 0; i < (*k)[0]; ++i) {
    if (!is_real)
      values.push_back(put(op, OpKind::ReduceMax, graph::ReduceAttrs{{axis}, true}, {rest},
                           {.type = searched, .shape = one}));
    int32_t looked_at = rest;
    if (found_before >= 0) {
      const int32_t is_largest =
          put(op, OpKind::Equal, graph::NoAttrs{}, {rest, values.back()}, decided);
      const int32_t is_new = put(op, OpKind::Greater, graph::NoAttrs{},
                                 {put(op, OpKind::Cast, graph::NoAttrs{}, {is_largest},
                                      {.type = DataType::Int32, .shape = input.shape}),
                                  found_before},
                                 decided);
      looked_at = put(op, OpKind::Cast, graph::NoAttrs{}, {is_new},
                      {.type = DataType::Int32, .shape = input.shape});
    }
    const int32_t place = put(op, OpKind::ArgMax, graph::AxisAttrs{axis}, {looked_at},
                              {.type = DataType::Int32, .shape = outer});
    indices.push_back(put(op, OpKind::Reshape, graph::ReshapeAttrs{one}, {place},
                          {.type = DataType::Int32, .shape = one}));
    if (i + 1 == (*k)[0]) break;
    const int32_t is_found = put(op, OpKind::Equal, graph::NoAttrs{}, {places, indices.back()},
                                 {.type = DataType::Bool, .shape = input.shape});
    rest = put(op, OpKind::Select, graph::NoAttrs{}, {is_found, none, rest},
               {.type = searched, .shape = input.shape});
    if (input.type != DataType::Int32) continue;
    const int32_t marked = put(op, OpKind::Cast, graph::NoAttrs{}, {is_found},
                               {.type = DataType::Int32, .shape = input.shape});
    found_before = found_before < 0
                       ? marked
                       : put(op, OpKind::Maximum, graph::NoAttrs{}, {found_before, marked},
                             {.type = DataType::Int32, .shape = input.shape});
  }
  int32_t all_places = op.outputs[1];
  if (index == DataType::Int32) {
    put_last(op, OpKind::Concat, graph::AxisAttrs{axis}, indices, 1);
  } else {
    all_places = put(op, OpKind::Concat, graph::AxisAttrs{axis}, indices,
                     {.type = DataType::Int32, .shape = found});
    put_last(op, OpKind::Cast, graph::NoAttrs{}, {all_places}, 1);
  }
  if (is_real)
    return put_last(op, OpKind::Gather, graph::GatherAttrs{axis, axis},
                    {current(op.inputs[0]), all_places});
  if (is_same) return put_last(op, OpKind::Concat, graph::AxisAttrs{axis}, values);
  const int32_t all =
      put(op, OpKind::Concat, graph::AxisAttrs{axis}, values, {.type = searched, .shape = found});
  put_last(op, OpKind::Cast, graph::NoAttrs{}, {all});
}

// A vector becomes the diagonal of a matrix: of zeros, or of the first operand.
void SubgraphReader::compose_diagonal(const OperatorInfo& op, OperatorReader& in) {
  const bool sets = op.code == kMATRIX_SET_DIAG;
  const graph::Tensor& values = in.input(sets ? 1 : 0);
  if (values.shape.empty() || (sets && in.input(0).shape.size() < 2))
    return in.problem("needs a diagonal that is no scalar, and matrices");
  const int64_t count = values.shape.back();
  Shape whole = values.shape;
  whole.push_back(count);
  if (sets) whole = in.input(0).shape;
  const int64_t rows = whole[whole.size() - 2], columns = whole.back();
  if (count != std::min(rows, columns) || whole.size() > kHighestRank)
    return in.problem(
        fmt::format("puts {} values on the diagonal of [{}]", count, fmt::join(whole, ",")));
  if (!can_be_made(in, rows, columns)) return;
  // Along the shorter side, and the same along the other.
  Shape spread(whole.begin(), whole.end() - 2);
  spread.insert(spread.end(), {columns <= rows ? 1 : rows, columns <= rows ? columns : 1});
  if (element_count(spread) != element_count(values.shape))
    return in.problem("has another number of diagonals than of matrices");
  in.decide_shape(whole);
  graph::Tensor line = values;
  line.constant = {};
  line.shape = spread;
  const int32_t lines = put(op, OpKind::Reshape, graph::ReshapeAttrs{spread},
                            {current(op.inputs[sets ? 1 : 0])}, std::move(line));
  // LiteRT has the number 0 off the diagonal, whatever the zero point is.
  MadeConstant zero = zero_of(in.output());
  std::fill(zero.bytes.begin(), zero.bytes.end(), uint8_t{0});
  const int32_t others = sets ? current(op.inputs[0]) : make(std::move(zero));
  put_last(op, OpKind::Select, graph::NoAttrs{},
           {make(diagonal("diagonal", rows, columns)), lines, others});
}

// A layer whose weights are computed, as converters write the product of two matrices: integers with a zero point in both are no
// layer of ours, and neither is a matrix with itself.
bool SubgraphReader::compose_product(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor x = in.input(0), weights = in.input(1), output = in.output();
  const bool is_narrow = x.type == DataType::Int8 || x.type == DataType::Int16;
  if (in.is_constant(1) || weights.type != x.type || weights.shape.size() != 2 || in.has_input(2) ||
      weights.shape[1] < 1 || x.shape.empty() ||
      !(is_narrow || (x.type == DataType::Float32 && op.inputs[0] == op.inputs[1])))
    return false;
  const auto* options = in.options<format::FullyConnectedOptions>();
  const graph::Activation activation =
      options ? in.activation(options->activation()) : graph::Activation::None;
  const int64_t depth = weights.shape[1], columns = weights.shape[0];
  const Shape rows{element_count(x.shape) / depth, depth}, product{rows[0], columns};
  Shape result = product;
  if (options && options->keep_dims()) result = x.shape, result.back() = columns;
  if (x.shape.back() != depth && (result != product || element_count(x.shape) % depth != 0))
    return false;  // said when the layer is verified
  in.decide_shape(result);
  if (!in.clean()) return true;

  const auto with = [&](const graph::Tensor& tensor, const Shape& shape) {
    graph::Tensor made = tensor;
    made.constant = {}, made.shape = shape;
    return made;
  };
  int32_t a = current(op.inputs[0]);
  if (x.shape != rows) a = put(op, OpKind::Reshape, graph::ReshapeAttrs{rows}, {a}, with(x, rows));
  const graph::BatchMatmulAttrs turned{false, true};
  const std::vector<int32_t> operands{a, current(op.inputs[1])};
  const bool is_reshaped = result != product, is_clamped = activation != graph::Activation::None;
  if (!is_reshaped && !is_clamped) return put_last(op, OpKind::BatchMatmul, turned, operands), true;
  int32_t made = put(op, OpKind::BatchMatmul, turned, operands, with(output, product));
  if (is_clamped && !is_reshaped)
    return put_last(op, OpKind::Relu, graph::ReluAttrs{activation}, {made}), true;
  if (is_clamped)
    made = put(op, OpKind::Relu, graph::ReluAttrs{activation}, {made}, with(output, product));
  put_last(op, OpKind::Reshape, graph::ReshapeAttrs{result}, {made});
  return true;
}

// Places of 64 bits, which are what a converter makes unless it is asked for others.
bool SubgraphReader::compose_long_place(const OperatorInfo& op, OperatorReader& in) {
  if (in.output().type != DataType::Int64) return false;
  Converted converted = op.known->convert(in);
  if (!in.clean()) return true;
  Shape shape = in.input(0).shape;
  const auto& axis = std::get<graph::AxisAttrs>(converted.attributes).axis;
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
  in.decide_shape(shape);
  if (!in.clean()) return true;
  const int32_t place = put(op, op.known->kind, converted.attributes, {current(op.inputs[0])},
                            {.type = DataType::Int32, .shape = shape});
  put_last(op, OpKind::Cast, graph::NoAttrs{}, {place});
  return true;
}

// Files that no interpreter of the format runs.
bool SubgraphReader::refuses_mixed_types(OperatorReader& in) {
  if (in.input(0).type == in.output().type) return false;
  in.problem(fmt::format("makes {} of {}, of which TFLite's interpreters make zeros",
                         to_string(in.output().type), to_string(in.input(0).type)),
             "the converter has no integers for it: multiply by -1 in its place");
  return true;
}

bool SubgraphReader::compose(const OperatorInfo& op, OperatorReader& in) {
  switch (op.code) {
    case kARG_MAX:
    case kARG_MIN:
      return compose_long_place(op, in);
    case kCONV_2D:
    case kDEPTHWISE_CONV_2D:
      return compose_computed_weights(op, in);
    case kPADV2:
      return compose_pad_with_real(op, in);
    case kFULLY_CONNECTED:
      return compose_product(op, in);
    case kSLICE:
    case kSTRIDED_SLICE:
      return compose_placed_slice(op, in);
    case kRNN:
    case kUNIDIRECTIONAL_SEQUENCE_RNN:
    case kBIDIRECTIONAL_SEQUENCE_RNN:
    case kLSTM:
    case kUNIDIRECTIONAL_SEQUENCE_LSTM:
    case kBIDIRECTIONAL_SEQUENCE_LSTM:
      return compose_sequence(op, in);
    case kRELU_0_TO_1:
      return compose_relu_0_to_1(op, in), true;
    case kONE_HOT:
      return compose_one_hot(op, in), true;
    case kLOCAL_RESPONSE_NORMALIZATION:
      return compose_local_response(op, in), true;
    case kSIGN:
      return compose_sign(op, in), true;
    case kEQUAL:
    case kNOT_EQUAL:
    case kGREATER:
    case kGREATER_EQUAL:
    case kLESS:
    case kLESS_EQUAL:
      return compose_comparison(op, in);
    case kNEG:
      return refuses_mixed_types(in);
    case kADD:
    case kSUB:
    case kMUL:
    case kDIV:
    case kMAXIMUM:
    case kMINIMUM:
      return compose_beside_reals(op, in, 0);
    case kSQUARE:
      return compose_square(op, in);
    case kSELECT:
      return compose_chosen_parts(op, in) || compose_beside_reals(op, in, 1);
    case kSELECT_V2:
      return compose_beside_reals(op, in, 1);
    case kABS:
    case kPOW:
    case kSQUARED_DIFFERENCE:
      return compose_whole_function(op, in);
    case kBITWISE_XOR:
      return compose_xor(op, in), true;
    case kRIGHT_SHIFT:
      return compose_right_shift(op, in), true;
    case kBUCKETIZE:
      return compose_buckets(op, in), true;
    case kSPARSE_TO_DENSE:
      return compose_sparse_to_dense(op, in), true;
    case kSCATTER_ND:
      return compose_scatter_nd(op, in), true;
    case kSEGMENT_SUM:
    case kUNSORTED_SEGMENT_SUM:
    case kUNSORTED_SEGMENT_PROD:
    case kUNSORTED_SEGMENT_MAX:
    case kUNSORTED_SEGMENT_MIN:
      return compose_segments(op, in), true;
    case kCONV_3D:
      return compose_volume(op, in), true;
    case kCONV_3D_TRANSPOSE:
      return compose_transposed_volume(op, in), true;
    case kTOPK_V2:
      return compose_top_k(op, in), true;
    case kNON_MAX_SUPPRESSION_V4:
    case kNON_MAX_SUPPRESSION_V5:
      return compose_suppression(op, in), true;
    case kRFFT2D:
      return compose_rfft2d(op, in), true;
    case kCOMPLEX_ABS:
    case kREAL:
    case kIMAG:
      return compose_complex(op, in), true;
    case kCUSTOM:
      if (op.custom_code == "TFLM_DECODE") return compose_decode(op, in), true;
      if (op.custom_code == "AudioSpectrogram") return compose_spectrogram(op, in), true;
      if (op.custom_code == "Mfcc") return compose_mfcc(op, in), true;
      if (op.custom_code == "Landmarks2TransformMatrix")
        return compose_landmark_matrix(op, in), true;
      if (op.custom_code == "TransformTensorBilinear")
        return compose_transformed_picture(op, in), true;
      if (op.custom_code == "TransformLandmarks")
        return compose_transformed_landmarks(op, in), true;
      return compose_transform(op, in) || compose_stream(op, in);
    case kMATRIX_DIAG:
    case kMATRIX_SET_DIAG:
      return compose_diagonal(op, in), true;
    case kREVERSE_SEQUENCE:
      return compose_reverse_sequence(op, in), true;
    case kDILATE:
      return compose_dilate(op, in), true;
    case kSTABLEHLO_PAD:
      return compose_gapped_pad(op, in), true;
    case kFAKE_QUANT:
      return compose_fake_quant(op, in), true;
    case kEMBEDDING_LOOKUP:
      if (!in.is_constant(1) || in.input(1).type != DataType::Int8 ||
          !in.input(1).quantization.present() || in.output().type != DataType::Float32)
        return false;
      return compose_embedding(op, in), true;
    default:
      return false;
  }
}

}  // namespace intarsia::tflite
