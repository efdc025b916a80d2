// The operators of the format that we have: the table, and the converters of those that take more than operands and need no
// file of their own.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "import/tflite/operator_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

template <typename Options>
Converted convert_binary(OperatorReader& in) {
  const auto* options = in.options<Options>();
  return {
      graph::BinaryAttrs{options ? in.activation(options->activation()) : graph::Activation::None}};
}

// The input's shape with an extent of 1 more or with some fewer; nothing where the axes are not known.
std::optional<Shape> with_changed_rank(OperatorReader& in) {
  Shape shape = in.input(0).shape;
  const auto rank = static_cast<int64_t>(shape.size());
  if (in.op().code == kEXPAND_DIMS) {
    if (!in.is_constant(1)) return std::nullopt;
    const std::vector<int64_t> axis = in.constant_values(1);
    if (axis.size() != 1 || axis[0] < -rank - 1 || axis[0] > rank) return std::nullopt;
    shape.insert(shape.begin() + (axis[0] < 0 ? axis[0] + rank + 1 : axis[0]), 1);
    return shape;
  }
  const auto* options = in.options<format::SqueezeOptions>();
  if (options == nullptr) return std::nullopt;
  std::vector<bool> leaves(shape.size(), values(options->squeeze_dims()).empty());
  for (const int32_t axis : values(options->squeeze_dims())) {
    if (axis < -rank || axis >= rank) return std::nullopt;
    leaves[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  Shape rest;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (!leaves[axis] || shape[axis] != 1) rest.push_back(shape[axis]);
  return rest;
}

// The bytes stay. The output tensor has the shape, unless the converter did not know it: what the file has then stands
// for it, and is wrong behind a SPACE_TO_BATCH_ND, which makes more images of one.
Converted convert_changed_rank(OperatorReader& in) {
  if (in.is_dynamic_output() && !in.is_complex(0))
    if (const std::optional<Shape> shape = with_changed_rank(in)) in.decide_shape(*shape);
  const Shape &from = in.input(0).shape, &to = in.output().shape;
  if (element_count(from) != element_count(to)) {
    in.problem(fmt::format("makes [{}] of [{}], which has another number of elements",
                           fmt::join(to, ","), fmt::join(from, ",")));
  }
  return {graph::ReshapeAttrs{to}, 1};
}

// With the extent that -1 stands for; empty when there is none such.
Shape with_missing_extent(const std::vector<int64_t>& asked, int64_t count) {
  Shape shape = asked;
  int64_t known = 1, missing = 0;
  for (const int64_t extent : asked) {
    if (extent == -1)
      ++missing;
    else if (extent < 1 || extent > count)
      return {};
    else if ((known *= extent) > count)
      return {};
  }
  if (missing > 1 || known < 1 || count % known != 0 || (missing == 0 && known != count)) return {};
  for (int64_t& extent : shape)
    if (extent == -1) extent = count / known;
  return shape;
}

// The output tensor has the whole shape; what the operator asks for must agree where it is known.
Converted convert_reshape(OperatorReader& in) {
  if (in.is_complex(0)) return convert_changed_rank(in);
  const Shape& shape = in.output().shape;
  std::optional<std::vector<int64_t>> asked;
  if (in.has_input(1)) {
    asked = in.integers(1, "its new shape");
  } else if (const auto* options = in.options<format::ReshapeOptions>()) {
    const std::span<const int32_t> stated = values(options->shape());
    if (options->shape() != nullptr) asked.emplace(stated.begin(), stated.end());
  }
  if (in.has_input(1) && !asked) return {graph::ReshapeAttrs{shape}, 1};
  if (asked && element_count(shape) != element_count(in.input(0).shape)) {
    // The file's shape stands for one that the converter did not know.
    const Shape whole = with_missing_extent(*asked, element_count(in.input(0).shape));
    if (!whole.empty() && in.is_dynamic_output()) {
      in.decide_shape(whole);
      return {graph::ReshapeAttrs{whole}, 1};
    }
  }
  if (asked) {
    const bool agrees = std::ranges::equal(
        *asked, shape, [](int64_t want, int64_t is) { return want == is || want == -1; });
    // Old converters wrote a scalar's shape as [0].
    const bool scalar = shape.empty() && *asked == std::vector<int64_t>{0};
    if (!agrees && !scalar) {
      in.problem(fmt::format("reshapes to [{}], but its output has shape [{}]",
                             fmt::join(*asked, ","), fmt::join(shape, ",")));
    }
  }
  if (element_count(shape) != element_count(in.input(0).shape)) {
    in.problem(fmt::format("reshapes [{}] to [{}], which has another number of elements",
                           fmt::join(in.input(0).shape, ","), fmt::join(shape, ",")));
  }
  return {graph::ReshapeAttrs{shape}, 1};
}

Converted convert_softmax(OperatorReader& in) {
  const auto* options = in.required_options<format::SoftmaxOptions>();
  const float beta = options ? options->beta() : 1.0f;
  if (!std::isfinite(beta) || beta <= 0) {
    in.problem(fmt::format("has beta {}, which must be positive", beta));
  }
  return {graph::SoftmaxAttrs{beta}};
}

Converted convert_reduce(OperatorReader& in) {
  graph::ReduceAttrs attrs;
  if (const auto* options = in.options<format::ReducerOptions>()) {
    attrs.keep_dims = options->keep_dims();
  }
  const auto rank = static_cast<int64_t>(in.input(0).shape.size());
  const auto axes = in.integers(1, "its axes");
  if (!axes) return {attrs, 1};
  for (const int64_t axis : *axes) {
    if (axis < -rank || axis >= rank) {
      in.problem(fmt::format("reduces axis {} of a tensor of rank {}", axis, rank),
                 rank == 0 ? "" : fmt::format("{} to {} are possible", -rank, rank - 1));
      return {attrs, 1};
    }
    attrs.axes.push_back(axis < 0 ? axis + rank : axis);
  }
  std::ranges::sort(attrs.axes);
  attrs.axes.erase(std::unique(attrs.axes.begin(), attrs.axes.end()), attrs.axes.end());
  return {attrs, 1};
}

Converted convert_leaky_relu(OperatorReader& in) {
  const auto* options = in.required_options<format::LeakyReluOptions>();
  const float alpha = options ? options->alpha() : 0.0f;
  if (!std::isfinite(alpha)) in.problem("has an alpha that is no number");
  return {graph::LeakyReluAttrs{alpha}};
}

Converted convert_gelu(OperatorReader& in) {
  const auto* options = in.options<format::GeluOptions>();
  return {graph::GeluAttrs{options != nullptr && options->approximate()}};
}

Converted convert_cumsum(OperatorReader& in) {
  graph::CumsumAttrs attrs;
  if (const auto* options = in.options<format::CumsumOptions>()) {
    attrs.exclusive = options->exclusive();
    attrs.reverse = options->reverse();
  }
  const auto axis = in.integers(1, "its axis");
  if (!axis) return {attrs, 1};
  if (axis->size() != 1) {
    in.problem(fmt::format("has {} axes, but takes 1", axis->size()));
    return {attrs, 1};
  }
  attrs.axis = in.axis(axis->front(), in.input(0).shape.size());
  return {attrs, 1};
}

Converted convert_arg(OperatorReader& in) {
  const auto axis = in.integers(1, "its axis");
  if (!axis) return {graph::AxisAttrs{}, 1};
  if (axis->size() != 1) {
    in.problem(fmt::format("has {} axes, but takes 1", axis->size()));
    return {graph::AxisAttrs{}, 1};
  }
  return {graph::AxisAttrs{in.axis(axis->front(), in.input(0).shape.size())}, 1};
}

Converted convert_batch_matmul(OperatorReader& in) {
  const auto* options = in.options<format::BatchMatmulOptions>();
  if (options == nullptr) return {graph::BatchMatmulAttrs{}};
  Converted result{graph::BatchMatmulAttrs{options->adjoint_a(), options->adjoint_b()}};
  result.asymmetric = options->asymmetric_inputs();
  return result;
}

template <graph::Activation activation>
Converted convert_relu(OperatorReader&) {
  return {graph::ReluAttrs{activation}};
}

using enum Code;

// Of operators that become no node of their own the kind says nothing.
constexpr OpKind kNone = OpKind::Reshape;

}  // namespace

const std::vector<KnownOperator>& known_operators() {
  static const std::vector<KnownOperator> table = {
      {kCONV_2D, OpKind::Conv2d, 2, 3, {"conv"}, convert_conv2d, Operands::Weighted},
      {kDEPTHWISE_CONV_2D,
       OpKind::DepthwiseConv2d,
       2,
       3,
       {"depthwise", "separable", "dw"},
       convert_depthwise_conv2d,
       Operands::Weighted},
      {kFULLY_CONNECTED,
       OpKind::FullyConnected,
       2,
       3,
       {"dense", "matmul", "fully_connected", "fc"},
       convert_fully_connected,
       Operands::Weighted},
      {kAVERAGE_POOL_2D,
       OpKind::AveragePool2d,
       1,
       1,
       {"average_pool", "avg", "global_average"},
       convert_pool2d},
      {kMAX_POOL_2D,
       OpKind::MaxPool2d,
       1,
       1,
       {"max_pool", "maxpool", "global_max"},
       convert_pool2d},
      {kADD, OpKind::Add, 2, 2, {"add"}, convert_binary<format::AddOptions>},
      {kMUL, OpKind::Mul, 2, 2, {"mul"}, convert_binary<format::MulOptions>},
      {kRESHAPE,
       OpKind::Reshape,
       1,
       2,
       {"reshape", "flatten"},
       convert_reshape,
       Operands::AnyBytes},
      {kSOFTMAX, OpKind::Softmax, 1, 1, {"softmax"}, convert_softmax},
      {kPAD, OpKind::Pad, 2, 2, {"pad", "zero_pad"}, convert_pad, Operands::FirstOnly},
      {kMEAN, OpKind::Mean, 2, 2, {"mean", "global_average"}, convert_reduce, Operands::FirstOnly},
      {kQUANTIZE, OpKind::Quantize, 1, 1, {"quant"}, nullptr, Operands::OldQuantised},
      {kDEQUANTIZE, OpKind::Dequantize, 1, 1, {"dequant"}, nullptr, Operands::OldQuantised},
      {kDENSIFY, kNone, 1, 1, {"densify", "dense"}, nullptr, Operands::AnyBytes},
      {kRELU, OpKind::Relu, 1, 1, {"relu", "re_lu"}, convert_relu<graph::Activation::Relu>},
      {kRELU6, OpKind::Relu, 1, 1, {"relu", "re_lu"}, convert_relu<graph::Activation::Relu6>},
      {kRELU_N1_TO_1,
       OpKind::Relu,
       1,
       1,
       {"relu", "re_lu"},
       convert_relu<graph::Activation::ReluN1To1>},
      {kTRANSPOSE_CONV,
       OpKind::TransposeConv2d,
       3,
       4,
       {"conv2d_transpose", "transpose_conv"},
       convert_transpose_conv2d,
       Operands::WeightsByChannel},
      {kSUB, OpKind::Sub, 2, 2, {"sub"}, convert_binary<format::SubOptions>},
      {kDIV, OpKind::Div, 2, 2, {"div", "truediv"}, convert_binary<format::DivOptions>},
      {kMINIMUM, OpKind::Minimum, 2, 2, {"minimum"}, nullptr, Operands::AnyBytes},
      {kMAXIMUM, OpKind::Maximum, 2, 2, {"maximum"}, nullptr, Operands::AnyBytes},
      {kSQUARED_DIFFERENCE, OpKind::SquaredDifference, 2, 2, {"squared"}},
      {kEQUAL, OpKind::Equal, 2, 2, {"equal"}, nullptr, Operands::AnyBytes},
      {kNOT_EQUAL, OpKind::NotEqual, 2, 2, {"not"}, nullptr, Operands::AnyBytes},
      {kGREATER, OpKind::Greater, 2, 2, {"greater"}, nullptr, Operands::AnyBytes},
      {kGREATER_EQUAL, OpKind::GreaterEqual, 2, 2, {"greater"}, nullptr, Operands::AnyBytes},
      {kLESS, OpKind::Less, 2, 2, {"less"}, nullptr, Operands::AnyBytes},
      {kLESS_EQUAL, OpKind::LessEqual, 2, 2, {"less"}, nullptr, Operands::AnyBytes},
      {kLOGICAL_AND, OpKind::LogicalAnd, 2, 2, {"logical"}},
      {kLOGICAL_OR, OpKind::LogicalOr, 2, 2, {"logical"}},
      {kLOGICAL_NOT, OpKind::LogicalNot, 1, 1, {"logical"}},
      {kSELECT, OpKind::Select, 3, 3, {"select"}, nullptr, Operands::AnyBytes},
      {kSELECT_V2, OpKind::Select, 3, 3, {"select"}, nullptr, Operands::AnyBytes},
      {kLEAKY_RELU, OpKind::LeakyRelu, 1, 1, {"leaky"}, convert_leaky_relu},
      {kPRELU, OpKind::Prelu, 2, 2, {"prelu", "p_re_lu"}},
      {kLOGISTIC, OpKind::Logistic, 1, 1, {"sigmoid", "logistic"}},
      {kTANH, OpKind::Tanh, 1, 1, {"tanh"}},
      {kHARD_SWISH, OpKind::HardSwish, 1, 1, {"hard"}},
      {kELU, OpKind::Elu, 1, 1, {"elu"}},
      {kGELU, OpKind::Gelu, 1, 1, {"gelu"}, convert_gelu},
      {kEXP, OpKind::Exp, 1, 1, {"exp"}},
      {kLOG, OpKind::Log, 1, 1, {"log"}},
      {kABS, OpKind::Abs, 1, 1, {"abs"}},
      {kNEG, OpKind::Neg, 1, 1, {"neg"}},
      {kSQUARE, OpKind::Square, 1, 1, {"square"}},
      {kSQRT, OpKind::Sqrt, 1, 1, {"sqrt"}},
      {kRSQRT, OpKind::Rsqrt, 1, 1, {"rsqrt"}},
      {kCEIL, OpKind::Ceil, 1, 1, {"ceil"}},
      {kFLOOR, OpKind::Floor, 1, 1, {"floor"}},
      {kROUND, OpKind::Round, 1, 1, {"round"}},
      {kCAST, OpKind::Cast, 1, 1, {"cast"}, nullptr, Operands::AnyBytes},
      {kLOG_SOFTMAX, OpKind::LogSoftmax, 1, 1, {"log_softmax"}},
      {kL2_NORMALIZATION, OpKind::L2Normalization, 1, 1, {"l2"}},
      {kPADV2, OpKind::PadV2, 3, 3, {"pad"}, convert_pad, Operands::AnyBytes},
      {kMIRROR_PAD,
       OpKind::MirrorPad,
       2,
       2,
       {"mirror", "pad"},
       convert_mirror_pad,
       Operands::AnyBytes},
      {kSUM, OpKind::Sum, 2, 2, {"sum"}, convert_reduce},
      {kREDUCE_MAX, OpKind::ReduceMax, 2, 2, {"max"}, convert_reduce},
      {kREDUCE_MIN, OpKind::ReduceMin, 2, 2, {"min"}, convert_reduce},
      {kARG_MAX, OpKind::ArgMax, 2, 2, {"arg"}, convert_arg},
      {kARG_MIN, OpKind::ArgMin, 2, 2, {"arg"}, convert_arg},
      {kCONCATENATION, OpKind::Concat, 1, 1000, {"concat"}, convert_concat, Operands::AnyBytes},
      {kPACK, OpKind::Pack, 1, 1000, {"stack", "pack"}, convert_pack, Operands::AnyBytes},
      {kSPLIT, OpKind::Split, 2, 2, {"split"}, convert_split, Operands::AnyBytes},
      {kSPLIT_V, OpKind::Split, 3, 3, {"split"}, convert_split, Operands::AnyBytes},
      {kUNPACK, OpKind::Unpack, 1, 1, {"unstack", "unpack"}, convert_unpack, Operands::AnyBytes},
      {kSLICE, OpKind::Slice, 3, 3, {"slice"}, convert_slice, Operands::AnyBytes},
      {kSTRIDED_SLICE,
       OpKind::Slice,
       4,
       4,
       {"strided_slice"},
       convert_strided_slice,
       Operands::AnyBytes},
      {kTRANSPOSE,
       OpKind::Transpose,
       2,
       2,
       {"transpose", "permute"},
       convert_transpose,
       Operands::AnyBytes},
      {kEXPAND_DIMS, OpKind::Reshape, 2, 2, {"expand"}, convert_changed_rank, Operands::AnyBytes},
      {kSQUEEZE, OpKind::Reshape, 1, 1, {"squeeze"}, convert_changed_rank, Operands::AnyBytes},
      {kSPACE_TO_DEPTH,
       OpKind::SpaceToDepth,
       1,
       1,
       {"space_to_depth"},
       convert_space_to_depth,
       Operands::AnyBytes},
      {kDEPTH_TO_SPACE,
       OpKind::DepthToSpace,
       1,
       1,
       {"depth_to_space"},
       convert_depth_to_space,
       Operands::AnyBytes},
      {kSPACE_TO_BATCH_ND, OpKind::SpaceToBatch, 3, 3, {"space_to_batch"}, convert_batch_space},
      {kBATCH_TO_SPACE_ND, OpKind::BatchToSpace, 3, 3, {"batch_to_space"}, convert_batch_space},
      {kGATHER, OpKind::Gather, 2, 2, {"gather"}, convert_gather, Operands::AnyBytes},
      {kRESIZE_NEAREST_NEIGHBOR,
       OpKind::ResizeNearest,
       2,
       2,
       {"resize", "up_sampling"},
       convert_resize_nearest},
      {kRESIZE_BILINEAR,
       OpKind::ResizeBilinear,
       2,
       2,
       {"resize", "up_sampling"},
       convert_resize_bilinear},
      {kBATCH_MATMUL, OpKind::BatchMatmul, 2, 2, {"matmul", "batch_matmul"}, convert_batch_matmul},
      {kSVDF, OpKind::Svdf, 5, 5, {"svdf"}, convert_svdf},
      {kUNIDIRECTIONAL_SEQUENCE_LSTM, OpKind::Lstm, 20, 24, {"lstm"}, convert_lstm},
      {kBIDIRECTIONAL_SEQUENCE_LSTM, OpKind::Lstm, 48, 48, {"lstm", "bidirectional"}},
      {kLSTM, OpKind::Lstm, 5, 24, {"lstm"}},
      {kRNN, OpKind::Recurrent, 5, 5, {"rnn"}},
      {kUNIDIRECTIONAL_SEQUENCE_RNN, OpKind::Recurrent, 5, 5, {"rnn"}},
      {kBIDIRECTIONAL_SEQUENCE_RNN, OpKind::Recurrent, 12, 12, {"rnn", "bidirectional"}},
      {kSIN, OpKind::Sin, 1, 1, {"sin"}},
      {kCOS, OpKind::Cos, 1, 1, {"cos"}},
      {kPOW, OpKind::Pow, 2, 2, {"pow"}},
      {kFLOOR_DIV, OpKind::FloorDiv, 2, 2, {"floor_div", "floordiv"}},
      {kFLOOR_MOD, OpKind::FloorMod, 2, 2, {"floor_mod", "floormod"}},
      {kADD_N, OpKind::AddN, 1, 1000, {"add_n", "addn"}},
      {kBROADCAST_TO,
       OpKind::BroadcastTo,
       2,
       2,
       {"broadcast"},
       convert_broadcast_to,
       Operands::AnyBytes},
      {kFILL, OpKind::BroadcastTo, 2, 2, {"fill"}, convert_broadcast_to, Operands::AnyBytes},
      {kZEROS_LIKE, OpKind::BroadcastTo, 1, 1, {"zeros"}, convert_broadcast_to, Operands::AnyBytes},
      {kTILE, OpKind::Tile, 2, 2, {"tile"}, convert_tile, Operands::AnyBytes},
      {kCUMSUM, OpKind::Cumsum, 2, 2, {"cumsum"}, convert_cumsum},
      {kREVERSE_V2, OpKind::Slice, 2, 2, {"reverse"}, convert_reverse, Operands::AnyBytes},
      {kGATHER_ND, OpKind::GatherNd, 2, 2, {"gather"}, nullptr, Operands::AnyBytes},
      {kEMBEDDING_LOOKUP, OpKind::Gather, 2, 2, {"embedding"}, convert_gather, Operands::AnyBytes},
      {kDYNAMIC_UPDATE_SLICE,
       OpKind::DynamicUpdateSlice,
       3,
       3,
       {"dynamic_update"},
       nullptr,
       Operands::AnyBytes},
      {kREDUCE_PROD, OpKind::ReduceProd, 2, 2, {"prod"}, convert_reduce},
      {kREDUCE_ANY, OpKind::ReduceAny, 2, 2, {"any"}, convert_reduce},
      {kREDUCE_ALL, OpKind::ReduceAll, 2, 2, {"all"}, convert_reduce},
      {kL2_POOL_2D, OpKind::L2Pool2d, 1, 1, {"l2_pool"}, convert_pool2d},
      {kATAN2, OpKind::Atan2, 2, 2, {"atan2", "angle"}},
      {kSIGN, kNone, 1, 1, {"sign"}},
      {kBITWISE_XOR, kNone, 2, 2, {"bitwise", "xor"}, nullptr, Operands::AnyBytes},
      {kRIGHT_SHIFT, kNone, 2, 2, {"right_shift", "shift"}, nullptr, Operands::AnyBytes},
      {kBUCKETIZE, kNone, 1, 1, {"bucket"}},
      {kSPARSE_TO_DENSE, kNone, 4, 4, {"sparse", "scatter"}, nullptr, Operands::AnyBytes},
      {kSCATTER_ND, kNone, 3, 3, {"scatter"}, nullptr, Operands::AnyBytes},
      {kSEGMENT_SUM, kNone, 2, 2, {"segment"}, nullptr, Operands::AnyBytes},
      {kUNSORTED_SEGMENT_SUM, kNone, 3, 3, {"segment"}, nullptr, Operands::AnyBytes},
      {kUNSORTED_SEGMENT_PROD, kNone, 3, 3, {"segment"}, nullptr, Operands::AnyBytes},
      {kUNSORTED_SEGMENT_MAX, kNone, 3, 3, {"segment"}, nullptr, Operands::AnyBytes},
      {kUNSORTED_SEGMENT_MIN, kNone, 3, 3, {"segment"}, nullptr, Operands::AnyBytes},
      {kCONV_3D, kNone, 2, 3, {"conv3d", "conv"}},
      {kCONV_3D_TRANSPOSE, kNone, 3, 4, {"conv3d", "conv"}},
      {kSHAPE, kNone, 1, 1, {"shape"}, nullptr, Operands::AnyBytes},
      {kRANK, kNone, 1, 1, {"rank"}, nullptr, Operands::AnyBytes},
      {kRANGE, kNone, 3, 3, {"range"}, nullptr, Operands::AnyBytes},
      {kBROADCAST_ARGS, kNone, 2, 2, {"broadcast"}, nullptr, Operands::AnyBytes},
      {kRELU_0_TO_1, kNone, 1, 1, {"relu", "re_lu"}},
      {kONE_HOT, kNone, 4, 4, {"one_hot"}, nullptr, Operands::AnyBytes},
      {kLOCAL_RESPONSE_NORMALIZATION, kNone, 1, 1, {"lrn", "local_response"}},
      {kTOPK_V2, kNone, 2, 2, {"top_k", "topk"}, nullptr, Operands::AnyBytes},
      {kNON_MAX_SUPPRESSION_V4, kNone, 5, 5, {"nms", "non_max"}, nullptr, Operands::AnyBytes, 2},
      {kNON_MAX_SUPPRESSION_V5, kNone, 6, 6, {"nms", "non_max"}, nullptr, Operands::AnyBytes, 3},
      {kRFFT2D, kNone, 2, 2, {"rfft", "stft"}, nullptr, Operands::AnyBytes},
      {kCOMPLEX_ABS, kNone, 1, 1, {"abs"}, nullptr, Operands::AnyBytes},
      {kREAL, kNone, 1, 1, {"real"}, nullptr, Operands::AnyBytes},
      {kIMAG, kNone, 1, 1, {"imag"}, nullptr, Operands::AnyBytes},
      {kMATRIX_DIAG, kNone, 1, 1, {"diag", "matrix_diag"}, nullptr, Operands::AnyBytes},
      {kMATRIX_SET_DIAG, kNone, 2, 2, {"set_diag", "matrix_set"}, nullptr, Operands::AnyBytes},
      {kREVERSE_SEQUENCE, kNone, 2, 2, {"reverse"}, nullptr, Operands::AnyBytes},
      {kDILATE, kNone, 3, 3, {"dilate"}, nullptr, Operands::AnyBytes},
      {kSTABLEHLO_PAD, kNone, 2, 2, {"pad"}, nullptr, Operands::AnyBytes},
      {kFAKE_QUANT, kNone, 1, 1, {"fake_quant"}},
      {kVAR_HANDLE, kNone, 0, 0, {"var_handle"}, nullptr, Operands::AnyBytes},
      {kREAD_VARIABLE, OpKind::ReadVariable, 1, 1, {"read"}},
      {kASSIGN_VARIABLE, OpKind::AssignVariable, 2, 2, {"assign"}},
      {kCALL_ONCE, kNone, 0, 0, {"call_once"}, nullptr, Operands::AnyBytes},
      {kIF, OpKind::If, 1, 1000, {"if", "cond"}},
      {kWHILE, OpKind::While, 1, 1000, {"while"}},
      {kSTABLEHLO_COMPOSITE, kNone, 0, 1000, {"composite"}, nullptr, Operands::AnyBytes, 1000},
  };
  return table;
}

}  // namespace intarsia::tflite
