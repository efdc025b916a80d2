#include "import/read_tflite.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "import/convert_compiled.h"
#include "import/operator_reader.h"

namespace intarsia::tflite {

namespace {

class SubgraphReader {
 public:
  SubgraphReader(const ModelFile& file, const format::Subgraph& subgraph)
      : file_(file), subgraph_(subgraph), tensors_(file, subgraph, problems_) {}

  Result<graph::Module> read(const std::string& module_name);

 private:
  void check_model_operands();
  void check_data_flow(const std::vector<OperatorInfo>& operators);
  void convert(const OperatorInfo& op);
  void keep_compiled(const OperatorInfo& op);
  graph::Module assemble(const std::string& module_name);

  // A converted operator; operands are still the file's tensor numbers.
  struct Draft {
    graph::Node node;
    std::vector<int32_t> inputs, outputs;
  };

  const ModelFile& file_;
  const format::Subgraph& subgraph_;
  Diagnostics problems_;
  TensorTable tensors_;
  std::vector<Draft> drafts_;
  // Constants that the file does not hold; their numbers follow those of the file's tensors.
  std::vector<MadeConstant> made_;
};

// Model inputs and outputs: in range, convertible, and not each other.
void SubgraphReader::check_model_operands() {
  const std::span<const int32_t> inputs = values(subgraph_.inputs());
  const std::span<const int32_t> outputs = values(subgraph_.outputs());
  std::vector<bool> is_input(tensors_.count());
  const auto check = [&](std::string_view role, size_t i, int32_t id) {
    const std::string where = fmt::format("{}: model {} {}", file_.name(), role, i);
    if (!tensors_.in_range(id)) {
      problems_.add(where, fmt::format("is tensor {}, but there are {}", id, tensors_.count()));
      return false;
    }
    if (tensors_.has_data(id)) {
      problems_.add(where, fmt::format("is {}, which is a constant", tensors_.label(id)));
      return false;
    }
    return tensors_.get(id, fmt::format("model {} {}", role, i)) != nullptr;
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!check("input", i, inputs[i])) continue;
    const std::string where = fmt::format("{}: model input {}", file_.name(), i);
    if (is_input[static_cast<size_t>(inputs[i])]) {
      problems_.add(where,
                    fmt::format("is {}, which is an input already", tensors_.label(inputs[i])));
    }
    if (tensors_.is_variable(inputs[i])) {
      problems_.add(where, fmt::format("is {}, which is a variable", tensors_.label(inputs[i])));
    }
    is_input[static_cast<size_t>(inputs[i])] = true;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (check("output", i, outputs[i]) && is_input[static_cast<size_t>(outputs[i])]) {
      problems_.add(fmt::format("{}: model output {}", file_.name(), i),
                    fmt::format("is {}, which is a model input; nothing computes it",
                                tensors_.label(outputs[i])));
    }
  }
  if (outputs.empty()) problems_.add(file_.name(), "has a model without outputs");
}

// Every tensor is written once, before it is read.
void SubgraphReader::check_data_flow(const std::vector<OperatorInfo>& operators) {
  constexpr int32_t kNobody = -1, kInput = -2;
  std::vector<int32_t> writer(tensors_.count(), kNobody);
  for (const int32_t id : values(subgraph_.inputs())) {
    if (tensors_.in_range(id)) writer[static_cast<size_t>(id)] = kInput;
  }
  const auto is_known = [&](int32_t id) {
    return writer[static_cast<size_t>(id)] != kNobody || tensors_.has_data(id) ||
           tensors_.is_variable(id);
  };
  for (const OperatorInfo& op : operators) {
    const std::string where = fmt::format("{}: {}", file_.name(), op.label());
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      const int32_t id = op.inputs[i];
      if (id == -1 || op.is_scratch(i) || is_known(id)) continue;
      problems_.add(where, fmt::format("reads {}, which is no model input, has no data, and no "
                                       "earlier operator writes",
                                       tensors_.label(id)));
    }
    for (const int32_t id : op.outputs) {
      int32_t& by = writer[static_cast<size_t>(id)];
      if (by >= 0) {
        problems_.add(where,
                      fmt::format("writes {}, which {} has written already", tensors_.label(id),
                                  operators[static_cast<size_t>(by)].label()));
      } else if (by == kInput || tensors_.has_data(id)) {
        problems_.add(where, fmt::format("writes {}, which is a {}", tensors_.label(id),
                                         by == kInput ? "model input" : "constant"));
      }
      by = op.index;
    }
  }
  const std::span<const int32_t> outputs = values(subgraph_.outputs());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (tensors_.in_range(outputs[i]) && !is_known(outputs[i])) {
      problems_.add(fmt::format("{}: model output {}", file_.name(), i),
                    fmt::format("is {}, which no operator writes", tensors_.label(outputs[i])));
    }
  }
}

void SubgraphReader::convert(const OperatorInfo& op) {
  if (op.known->kind == graph::OpKind::Compiled) return keep_compiled(op);
  OperatorReader in(file_, op, tensors_, problems_);
  if (!in.open()) return;
  Converted converted;
  switch (op.known->kind) {
    case graph::OpKind::Conv2d:
      converted = convert_conv2d(in);
      break;
    case graph::OpKind::DepthwiseConv2d:
      converted = convert_depthwise_conv2d(in);
      break;
    case graph::OpKind::AveragePool2d:
    case graph::OpKind::MaxPool2d:
      converted = convert_pool2d(in);
      break;
    case graph::OpKind::FullyConnected:
      converted = convert_fully_connected(in);
      break;
    case graph::OpKind::TransposeConv2d:
      converted = convert_transpose_conv2d(in);
      break;
    case graph::OpKind::Svdf:
      converted = convert_svdf(in);
      break;
    case graph::OpKind::Lstm:
      converted = convert_lstm(in);
      break;
    default:
      converted = convert_plain(in);
  }
  if (!in.clean()) return;
  Draft draft;
  draft.node.kind = op.known->kind;
  draft.node.name = op.name;
  draft.node.attributes = std::move(converted.attributes);
  const size_t kept = std::min(converted.kept, op.inputs.size());
  if (converted.operands.empty()) {
    draft.inputs.assign(op.inputs.begin(), op.inputs.begin() + static_cast<ptrdiff_t>(kept));
  }
  for (const size_t i : converted.operands) {
    draft.inputs.push_back(i < op.inputs.size() ? op.inputs[i] : -1);
  }
  if (converted.bias) {
    draft.inputs.resize(3, -1);
    draft.inputs[2] = static_cast<int32_t>(tensors_.count() + made_.size());
    made_.push_back(std::move(*converted.bias));
  }
  draft.outputs.assign(op.outputs.begin(), op.outputs.end());
  for (const size_t i : converted.states) draft.outputs.push_back(op.inputs[i]);
  drafts_.push_back(std::move(draft));
}

void SubgraphReader::keep_compiled(const OperatorInfo& op) {
  std::optional<CompiledOperator> compiled = convert_compiled(file_, op, tensors_, problems_);
  if (!compiled) return;
  Draft draft;
  draft.node.kind = op.known->kind;
  draft.node.name = op.name;
  draft.node.attributes = std::move(compiled->attributes);
  draft.inputs = std::move(compiled->inputs);
  draft.outputs.assign(op.outputs.begin(), op.outputs.end());
  drafts_.push_back(std::move(draft));
}

graph::Module SubgraphReader::assemble(const std::string& module_name) {
  std::vector<graph::TensorId> ids(tensors_.count() + made_.size());
  const auto mark = [&](std::span<const int32_t> used) {
    for (const int32_t id : used) {
      if (id >= 0) ids[static_cast<size_t>(id)].index = 0;
    }
  };
  const std::span<const int32_t> inputs = values(subgraph_.inputs());
  const std::span<const int32_t> outputs = values(subgraph_.outputs());
  mark(inputs);
  mark(outputs);
  for (const Draft& draft : drafts_) {
    mark(draft.inputs);
    mark(draft.outputs);
  }

  graph::Module module;
  module.name = module_name;
  module.entry = "main";
  graph::Function function;
  function.name = module.entry;
  std::map<std::pair<const uint8_t*, size_t>, ConstantId> constants;  // shared buffers, once
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!ids[i].valid()) continue;
    ids[i].index = static_cast<int32_t>(function.tensors.size());
    if (i >= tensors_.count()) {
      MadeConstant& made = made_[i - tensors_.count()];
      made.tensor.constant.index = static_cast<int32_t>(module.constants.size());
      module.constants.push_back({made.tensor.name, std::move(made.bytes)});
      function.tensors.push_back(std::move(made.tensor));
      continue;
    }
    const auto id = static_cast<int32_t>(i);
    const graph::Tensor* converted = tensors_.get(id, "");
    INTARSIA_CHECK(converted != nullptr, "a model without problems uses good tensors only");
    graph::Tensor tensor = *converted;
    const std::span<const uint8_t> data = tensors_.data(id);
    if (!data.empty()) {
      const ConstantId fresh{static_cast<int32_t>(module.constants.size())};
      const auto [at, is_new] = constants.try_emplace({data.data(), data.size()}, fresh);
      if (is_new) module.constants.push_back({tensor.name, {data.begin(), data.end()}});
      tensor.constant = at->second;
    }
    function.tensors.push_back(std::move(tensor));
  }

  const auto mapped = [&](std::span<const int32_t> operands) {
    std::vector<graph::TensorId> result;
    for (const int32_t id : operands) {
      result.push_back(id < 0 ? graph::TensorId{} : ids[static_cast<size_t>(id)]);
    }
    return result;
  };
  for (Draft& draft : drafts_) {
    draft.node.inputs = mapped(draft.inputs);
    draft.node.outputs = mapped(draft.outputs);
    function.nodes.push_back(std::move(draft.node));
  }
  function.inputs = mapped(inputs);
  function.outputs = mapped(outputs);
  module.functions.push_back(std::move(function));
  return module;
}

Result<graph::Module> SubgraphReader::read(const std::string& module_name) {
  check_model_operands();
  const auto operators = list_operators(file_, subgraph_, tensors_, problems_);
  if (!operators) return problems_;
  check_data_flow(*operators);
  report_unknown(file_, subgraph_, *operators, problems_);
  for (const OperatorInfo& op : *operators) {
    if (op.known != nullptr) convert(op);
  }
  if (!problems_.empty()) return problems_;
  return assemble(module_name);
}

}  // namespace

Result<graph::Module> read_tflite(std::span<const uint8_t> bytes, const std::string& file,
                                  const std::string& module_name) {
  INTARSIA_TRY(const ModelFile model, ModelFile::open(bytes, file));
  const auto* subgraphs = model.model().subgraphs();
  if (subgraphs == nullptr || subgraphs->size() == 0) {
    return Diagnostics(file, "holds no subgraph, so no model");
  }
  return SubgraphReader(model, *subgraphs->Get(0)).read(module_name);
}

}  // namespace intarsia::tflite
