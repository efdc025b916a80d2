// What the subgraphs of one file share: constants, variables, and the functions that branches and loops
// run.
//
// Variables of the file (handles, reads and assignments anywhere) become values: a function that works
// on one takes its value as a further input and gives the new one as a further output. Only the model
// itself keeps state: it reads each variable once, before its first use, and assigns it once, after
// its last. So one invocation's order of reads and assignments is the order of the operators, whoever
// runs them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "import/listed_operators.h"
#include "import/tflite/node_names.h"
#include "import/tflite/operator_reader.h"
#include "intarsia/import.h"

namespace intarsia::tflite {

using VariableId = size_t;

struct Variable {
  std::string name;
  std::optional<graph::Tensor> tensor;  // type, shape and quantisation, from its first use
  std::vector<uint8_t> initial;         // what initialisation leaves in it; empty: zeros
};

// A subgraph for one way to call it: which variables its handles among the inputs are, and those whose
// values it takes and gives.
struct Signature {
  size_t subgraph = 0;
  std::vector<std::optional<VariableId>> handles;  // per input
  std::vector<VariableId> takes, gives;
  auto operator<=>(const Signature&) const = default;
};

class ModelReader {
 public:
  // `options` must outlive the reader.
  ModelReader(const ModelFile& file, const ImportOptions& options);

  Result<graph::Module> read(const std::string& module_name);
  // Of the subgraphs that the model runs, without converting any.
  Result<std::vector<import::ListedOperator>> listed();

  struct Subgraph {
    const format::Subgraph* raw = nullptr;
    std::unique_ptr<TensorTable> tensors;
    std::optional<std::vector<OperatorInfo>> operators;
    bool is_reachable = false;
    bool is_checked = false;  // operands and data flow, once for all signatures
  };

  // ---- for the readers of subgraphs ----

  const ModelFile& file() const { return file_; }
  const ImportOptions& options() const { return options_; }
  // Whether quantised bytes without a sign, which old converters made, are int8 in the whole model.
  bool reads_bytes_signed() const { return reads_bytes_signed_; }
  const ProgressListener& on_progress() const { return options_.on_progress; }
  Diagnostics& problems() { return problems_; }
  Subgraph& subgraph(size_t number) { return subgraphs_[number]; }
  graph::Module& module() { return module_; }
  // The constant with these bytes of the file, which is added when it is new.
  ConstantId constant(const std::string& name, std::span<const uint8_t> bytes);

  VariableId variable(const format::Operator& handle);
  // One that the file does not name.
  VariableId add_variable(Variable variable) {
    variables_.push_back(std::move(variable));
    return variables_.size() - 1;
  }
  Variable& variable(VariableId id) { return variables_[id]; }
  // The handles of a subgraph's tensors; others have none.
  using Handles = std::map<int32_t, VariableId>;
  Handles handles_of(size_t subgraph, const std::vector<std::optional<VariableId>>& inputs);
  // Variables that the subgraph, or what it runs, reads or assigns (`assigned`: only those).
  std::set<VariableId> uses(size_t subgraph, const std::vector<std::optional<VariableId>>& inputs,
                            bool assigned);
  // The function, converted when it is new. Empty when there were problems.
  std::string function_for(const Signature& signature);
  // The function's nodes are where it was run, and nobody need have it, unless a branch or a loop runs it too.
  void written_out(const std::string& function) { written_out_.insert(function); }
  // For a function that the file does not have.
  std::string function_name(const std::string& hint) { return function_names_.take(hint); }
  // Runs a CALL_ONCE's subgraph here and now, once.
  void initialise(const OperatorInfo& op, size_t subgraph);

 private:
  bool choose_entry();
  bool list_reachable();
  void choose_signs();
  bool check_calls();
  void remove_written_out();
  void find_uses(size_t subgraph, const std::vector<std::optional<VariableId>>& inputs,
                 bool assigned, std::set<VariableId>& found,
                 std::set<std::pair<size_t, std::vector<std::optional<VariableId>>>>& seen);
  void learn(VariableId id, const OperatorInfo& op, Subgraph& subgraph, int32_t tensor);

  const ModelFile& file_;
  const ImportOptions& options_;
  Diagnostics problems_;
  graph::Module module_;
  std::vector<Subgraph> subgraphs_;
  size_t entry_ = 0;  // the subgraph that is the model
  std::map<std::pair<const uint8_t*, size_t>, ConstantId> constants_;  // shared buffers, once
  std::vector<Variable> variables_;
  std::map<std::pair<std::string, std::string>, VariableId> variable_by_name_;
  std::map<Signature, std::string> functions_;
  UniqueNames function_names_;
  std::set<size_t> initialised_;
  std::set<std::string> written_out_;
  bool reads_bytes_signed_ = false;
};

// Converts one subgraph. `is_model`: keeps the variables.
std::optional<graph::Function> read_subgraph(ModelReader& model, const Signature& signature,
                                             bool is_model, const std::string& name);

}  // namespace intarsia::tflite
