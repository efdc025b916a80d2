#include "import/tflite_operators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "import/node_names.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

using enum Code;

// Of operators that become no node of their own the kind says nothing.
constexpr OpKind kNone = OpKind::Reshape;

const std::vector<KnownOperator>& known_operators() {
  static const std::vector<KnownOperator> table = {
      {kCONV_2D, OpKind::Conv2d, 2, 3, {"conv"}},
      {kDEPTHWISE_CONV_2D, OpKind::DepthwiseConv2d, 2, 3, {"depthwise", "separable", "dw"}},
      {kFULLY_CONNECTED,
       OpKind::FullyConnected,
       2,
       3,
       {"dense", "matmul", "fully_connected", "fc"}},
      {kAVERAGE_POOL_2D, OpKind::AveragePool2d, 1, 1, {"average_pool", "avg", "global_average"}},
      {kMAX_POOL_2D, OpKind::MaxPool2d, 1, 1, {"max_pool", "maxpool", "global_max"}},
      {kADD, OpKind::Add, 2, 2, {"add"}},
      {kMUL, OpKind::Mul, 2, 2, {"mul"}},
      {kRESHAPE, OpKind::Reshape, 1, 2, {"reshape", "flatten"}},
      {kSOFTMAX, OpKind::Softmax, 1, 1, {"softmax"}},
      {kPAD, OpKind::Pad, 2, 2, {"pad", "zero_pad"}},
      {kMEAN, OpKind::Mean, 2, 2, {"mean", "global_average"}},
      {kQUANTIZE, OpKind::Quantize, 1, 1, {"quant"}},
      {kDEQUANTIZE, OpKind::Dequantize, 1, 1, {"dequant"}},
      {kRELU, OpKind::Relu, 1, 1, {"relu", "re_lu"}},
      {kRELU6, OpKind::Relu, 1, 1, {"relu", "re_lu"}},
      {kRELU_N1_TO_1, OpKind::Relu, 1, 1, {"relu", "re_lu"}},
      {kTRANSPOSE_CONV, OpKind::TransposeConv2d, 3, 4, {"conv2d_transpose", "transpose_conv"}},
      {kSUB, OpKind::Sub, 2, 2, {"sub"}},
      {kDIV, OpKind::Div, 2, 2, {"div", "truediv"}},
      {kMINIMUM, OpKind::Minimum, 2, 2, {"minimum"}},
      {kMAXIMUM, OpKind::Maximum, 2, 2, {"maximum"}},
      {kSQUARED_DIFFERENCE, OpKind::SquaredDifference, 2, 2, {"squared"}},
      {kEQUAL, OpKind::Equal, 2, 2, {"equal"}},
      {kNOT_EQUAL, OpKind::NotEqual, 2, 2, {"not"}},
      {kGREATER, OpKind::Greater, 2, 2, {"greater"}},
      {kGREATER_EQUAL, OpKind::GreaterEqual, 2, 2, {"greater"}},
      {kLESS, OpKind::Less, 2, 2, {"less"}},
      {kLESS_EQUAL, OpKind::LessEqual, 2, 2, {"less"}},
      {kLOGICAL_AND, OpKind::LogicalAnd, 2, 2, {"logical"}},
      {kLOGICAL_OR, OpKind::LogicalOr, 2, 2, {"logical"}},
      {kLOGICAL_NOT, OpKind::LogicalNot, 1, 1, {"logical"}},
      {kSELECT, OpKind::Select, 3, 3, {"select"}},
      {kSELECT_V2, OpKind::Select, 3, 3, {"select"}},
      {kLEAKY_RELU, OpKind::LeakyRelu, 1, 1, {"leaky"}},
      {kPRELU, OpKind::Prelu, 2, 2, {"prelu", "p_re_lu"}},
      {kLOGISTIC, OpKind::Logistic, 1, 1, {"sigmoid", "logistic"}},
      {kTANH, OpKind::Tanh, 1, 1, {"tanh"}},
      {kHARD_SWISH, OpKind::HardSwish, 1, 1, {"hard"}},
      {kELU, OpKind::Elu, 1, 1, {"elu"}},
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
      {kCAST, OpKind::Cast, 1, 1, {"cast"}},
      {kLOG_SOFTMAX, OpKind::LogSoftmax, 1, 1, {"log_softmax"}},
      {kL2_NORMALIZATION, OpKind::L2Normalization, 1, 1, {"l2"}},
      {kPADV2, OpKind::PadV2, 3, 3, {"pad"}},
      {kMIRROR_PAD, OpKind::MirrorPad, 2, 2, {"mirror", "pad"}},
      {kSUM, OpKind::Sum, 2, 2, {"sum"}},
      {kREDUCE_MAX, OpKind::ReduceMax, 2, 2, {"max"}},
      {kREDUCE_MIN, OpKind::ReduceMin, 2, 2, {"min"}},
      {kARG_MAX, OpKind::ArgMax, 2, 2, {"arg"}},
      {kARG_MIN, OpKind::ArgMin, 2, 2, {"arg"}},
      {kCONCATENATION, OpKind::Concat, 1, 1000, {"concat"}},
      {kPACK, OpKind::Pack, 1, 1000, {"stack", "pack"}},
      {kSPLIT, OpKind::Split, 2, 2, {"split"}},
      {kSPLIT_V, OpKind::Split, 3, 3, {"split"}},
      {kUNPACK, OpKind::Unpack, 1, 1, {"unstack", "unpack"}},
      {kSLICE, OpKind::Slice, 3, 3, {"slice"}},
      {kSTRIDED_SLICE, OpKind::Slice, 4, 4, {"strided_slice"}},
      {kTRANSPOSE, OpKind::Transpose, 2, 2, {"transpose", "permute"}},
      {kEXPAND_DIMS, OpKind::Reshape, 2, 2, {"expand"}},
      {kSQUEEZE, OpKind::Reshape, 1, 1, {"squeeze"}},
      {kSPACE_TO_DEPTH, OpKind::SpaceToDepth, 1, 1, {"space_to_depth"}},
      {kDEPTH_TO_SPACE, OpKind::DepthToSpace, 1, 1, {"depth_to_space"}},
      {kSPACE_TO_BATCH_ND, OpKind::SpaceToBatch, 3, 3, {"space_to_batch"}},
      {kBATCH_TO_SPACE_ND, OpKind::BatchToSpace, 3, 3, {"batch_to_space"}},
      {kGATHER, OpKind::Gather, 2, 2, {"gather"}},
      {kRESIZE_NEAREST_NEIGHBOR, OpKind::ResizeNearest, 2, 2, {"resize", "up_sampling"}},
      {kRESIZE_BILINEAR, OpKind::ResizeBilinear, 2, 2, {"resize", "up_sampling"}},
      {kBATCH_MATMUL, OpKind::BatchMatmul, 2, 2, {"matmul", "batch_matmul"}},
      {kSVDF, OpKind::Svdf, 5, 5, {"svdf"}},
      {kUNIDIRECTIONAL_SEQUENCE_LSTM, OpKind::Lstm, 20, 24, {"lstm"}},
      {kSIN, OpKind::Sin, 1, 1, {"sin"}},
      {kCOS, OpKind::Cos, 1, 1, {"cos"}},
      {kPOW, OpKind::Pow, 2, 2, {"pow"}},
      {kFLOOR_DIV, OpKind::FloorDiv, 2, 2, {"floor_div", "floordiv"}},
      {kFLOOR_MOD, OpKind::FloorMod, 2, 2, {"floor_mod", "floormod"}},
      {kADD_N, OpKind::AddN, 1, 1000, {"add_n", "addn"}},
      {kBROADCAST_TO, OpKind::BroadcastTo, 2, 2, {"broadcast"}},
      {kFILL, OpKind::BroadcastTo, 2, 2, {"fill"}},
      {kZEROS_LIKE, OpKind::BroadcastTo, 1, 1, {"zeros"}},
      {kTILE, OpKind::Tile, 2, 2, {"tile"}},
      {kCUMSUM, OpKind::Cumsum, 2, 2, {"cumsum"}},
      {kREVERSE_V2, OpKind::Slice, 2, 2, {"reverse"}},
      {kGATHER_ND, OpKind::GatherNd, 2, 2, {"gather"}},
      {kEMBEDDING_LOOKUP, OpKind::Gather, 2, 2, {"embedding"}},
      {kDYNAMIC_UPDATE_SLICE, OpKind::DynamicUpdateSlice, 3, 3, {"dynamic_update"}},
      {kREDUCE_PROD, OpKind::ReduceProd, 2, 2, {"prod"}},
      {kREDUCE_ANY, OpKind::ReduceAny, 2, 2, {"any"}},
      {kREDUCE_ALL, OpKind::ReduceAll, 2, 2, {"all"}},
      {kL2_POOL_2D, OpKind::L2Pool2d, 1, 1, {"l2_pool"}},
      {kSHAPE, kNone, 1, 1, {"shape"}},
      {kRANK, kNone, 1, 1, {"rank"}},
      {kRANGE, kNone, 3, 3, {"range"}},
      {kBROADCAST_ARGS, kNone, 2, 2, {"broadcast"}},
      {kVAR_HANDLE, kNone, 0, 0, {"var_handle"}},
      {kREAD_VARIABLE, OpKind::ReadVariable, 1, 1, {"read"}},
      {kASSIGN_VARIABLE, OpKind::AssignVariable, 2, 2, {"assign"}},
      {kCALL_ONCE, kNone, 0, 0, {"call_once"}},
      {kIF, OpKind::If, 1, 1000, {"if", "cond"}},
      {kWHILE, OpKind::While, 1, 1000, {"while"}},
  };
  return table;
}

// Every operator that holds a program.
const KnownOperator kProgram = {kCUSTOM, OpKind::Compiled, 0, 1000, {}};

std::string_view builtin_name(int32_t code) {
  switch (code) {
#define TFLITE_OPERATOR(code, name) \
  case code:                        \
    return #name;
#include "import/tflite_operators.def"
#undef TFLITE_OPERATOR
    default:
      return "";
  }
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

// Fills in what the operator is. False, and a problem, when the file does not say.
bool identify(const ModelFile& file, OperatorInfo& op, std::string& problem) {
  const auto* codes = file.model().operator_codes();
  const size_t count = codes ? codes->size() : 0;
  const uint32_t at = op.raw->opcode_index();
  if (at >= count) {
    problem = fmt::format("names operator code {}, but the file has {}", at, count);
    return false;
  }
  const format::OperatorCode& entry = *codes->Get(at);
  op.code = std::max<int32_t>(entry.old_code(), entry.code());
  const std::string_view name = builtin_name(op.code);
  if (op.code == kCUSTOM) {
    op.type = fmt::format("custom '{}' v{}", printable(text(entry.custom_code())), entry.version());
  } else if (name.empty()) {
    op.type = fmt::format("builtin {} v{}", op.code, entry.version());
  } else {
    op.type = fmt::format("{} v{}", name, entry.version());
  }
  const auto& table = known_operators();
  const auto known = std::ranges::find(table, op.code, &KnownOperator::code);
  if (known != table.end()) op.known = &*known;
  if (op.code == kCUSTOM) {
    op.program = file.program_operator(text(entry.custom_code()));
    op.known = op.program == nullptr ? nullptr : &kProgram;
  }
  return true;
}

std::string suggested_name(const OperatorInfo& op, const TensorTable& tensors) {
  const std::string_view tensor = op.outputs.empty() ? "" : tensors.name(op.outputs.front());
  if (op.program != nullptr) {
    const std::vector<std::string_view> names(op.program->layer_names.begin(),
                                              op.program->layer_names.end());
    return node_name(tensor, names, graph::to_string(op.known->kind));
  }
  if (op.known != nullptr) {
    return node_name(tensor, op.known->layer_names, graph::to_string(op.known->kind));
  }
  const std::string_view builtin = op.code == kCUSTOM ? "custom" : builtin_name(op.code);
  const std::string fallback = builtin.empty() ? "unknown" : lower(builtin);
  const std::string_view word = fallback;
  return node_name(tensor, std::span(&word, 1), fallback);
}

std::string bad_index(const OperatorInfo& op, const TensorTable& tensors) {
  for (const int32_t id : op.inputs) {
    if (id != -1 && !tensors.in_range(id)) {
      return fmt::format("reads tensor {}, but there are {}", id, tensors.count());
    }
  }
  for (const int32_t id : op.outputs) {
    if (!tensors.in_range(id)) {
      return fmt::format("writes tensor {}, but there are {}", id, tensors.count());
    }
  }
  return "";
}

// What the options say, whatever the operator is.
std::vector<int64_t> subgraphs_named_by(const format::Operator& op) {
  if (const auto* o = op.options_as_CallOptions()) return {o->subgraph()};
  if (const auto* o = op.options_as_IfOptions()) return {o->then_subgraph(), o->else_subgraph()};
  if (const auto* o = op.options_as_WhileOptions()) {
    return {o->condition_subgraph(), o->body_subgraph()};
  }
  if (const auto* o = op.options_as_CallOnceOptions()) return {o->subgraph()};
  return {};
}

}  // namespace

std::vector<int64_t> subgraphs_run_by(const OperatorInfo& op) {
  const format::Options options = op.raw->options_type();
  const bool fits = op.code == kIF          ? options == format::Options::IfOptions
                    : op.code == kWHILE     ? options == format::Options::WhileOptions
                    : op.code == kCALL_ONCE ? options == format::Options::CallOnceOptions
                                            : false;
  return fits ? subgraphs_named_by(*op.raw) : std::vector<int64_t>{};
}

namespace {

std::string describe_subgraphs(const ModelFile& file, const format::Operator& op) {
  const auto* subgraphs = file.model().subgraphs();
  std::vector<std::string> labels;
  for (const int64_t index : subgraphs_named_by(op)) {
    std::string label = fmt::format("subgraph {}", index);
    if (index >= 0 && index < static_cast<int64_t>(subgraphs->size())) {
      const auto* subgraph = subgraphs->Get(static_cast<flatbuffers::uoffset_t>(index));
      label += fmt::format(" '{}'", printable(text(subgraph->name())));
    } else {
      label += " (which does not exist)";
    }
    labels.push_back(std::move(label));
  }
  return labels.empty() ? "" : fmt::format(", runs {}", fmt::join(labels, " and "));
}

}  // namespace

bool OperatorInfo::is_scratch(size_t input) const {
  return program != nullptr &&
         (input == program->constants || input == program->arena || input == program->fast_arena);
}

std::string OperatorInfo::label() const {
  const std::string where = subgraph == 0 ? "" : fmt::format(" of subgraph {}", subgraph);
  return fmt::format("operator {} '{}' ({}){}", index, name, type, where);
}

std::optional<std::vector<OperatorInfo>> list_operators(const ModelFile& file,
                                                        const format::Subgraph& subgraph,
                                                        size_t number, const TensorTable& tensors,
                                                        Diagnostics& problems) {
  std::vector<OperatorInfo> operators;
  if (subgraph.operators() == nullptr) return operators;
  UniqueNames names;
  bool meaningful = true;
  for (const format::Operator* raw : *subgraph.operators()) {
    OperatorInfo op;
    op.raw = raw;
    op.subgraph = number;
    op.index = static_cast<int32_t>(operators.size());
    op.inputs = values(raw->inputs());
    op.outputs = values(raw->outputs());
    std::string problem;
    if (identify(file, op, problem)) problem = bad_index(op, tensors);
    if (problem.empty()) {
      op.name = names.take(suggested_name(op, tensors));
    } else {
      const std::string type = op.type.empty() ? "" : fmt::format(" ({})", op.type);
      problems.add(fmt::format("{}: operator {}{}", file.name(), op.index, type), problem);
      meaningful = false;
    }
    operators.push_back(std::move(op));
  }
  if (!meaningful) return std::nullopt;
  return operators;
}

void report_unknown(const ModelFile& file, const format::Subgraph& subgraph,
                    const std::vector<OperatorInfo>& operators, Diagnostics& problems) {
  constexpr size_t kMostReaders = 4;  // named in one line
  std::map<int32_t, std::vector<std::string>> readers;
  for (const OperatorInfo& op : operators) {
    if (op.known == nullptr) {
      for (const int32_t id : op.outputs) readers.try_emplace(id);
    }
  }
  if (readers.empty() && std::ranges::all_of(operators, &OperatorInfo::known)) return;
  const auto add_reader = [&](int32_t id, const std::string& label) {
    const auto found = readers.find(id);
    if (found == readers.end()) return;
    if (found->second.empty() || found->second.back() != label) found->second.push_back(label);
  };
  for (const OperatorInfo& op : operators) {
    for (const int32_t id : op.inputs) add_reader(id, op.label());
  }
  const std::span<const int32_t> results = values(subgraph.outputs());
  for (size_t i = 0; i < results.size(); ++i) {
    add_reader(results[i], fmt::format("model output {}", i));
  }

  std::string hint;
  for (const KnownOperator& known : known_operators()) {
    hint += (hint.empty() ? "supported are " : ", ") + std::string(builtin_name(known.code));
  }
  hint += "; docs/operators.md has the table of their types";
  for (const OperatorInfo& op : operators) {
    if (op.known != nullptr) continue;
    std::vector<std::string> fed;
    for (const int32_t id : op.outputs)
      fed.insert(fed.end(), readers[id].begin(), readers[id].end());
    const size_t more = fed.size() > kMostReaders ? fed.size() - kMostReaders : 0;
    fed.resize(fed.size() - more);
    std::string what =
        fmt::format("is an operator Intarsia does not have{}", describe_subgraphs(file, *op.raw));
    what += fed.empty() ? "; nothing reads its output"
                        : fmt::format("; its output feeds {}{}", fmt::join(fed, ", "),
                                      more ? fmt::format(" and {} more", more) : "");
    problems.add(fmt::format("{}: {}", file.name(), op.label()), what, hint);
    hint.clear();  // the list once is enough
  }
}

}  // namespace intarsia::tflite
