// The operators of one subgraph as the file lists them: identified, named, operands in range, and
// who reads what. Nothing is converted yet.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/tflite/tflite_tensors.h"

namespace intarsia::tflite {

// The format's numbers.
enum Code : int32_t {
#define TFLITE_OPERATOR(code, name) k##name = code,
#include "import/tflite_operators.def"
#undef TFLITE_OPERATOR
};

class OperatorReader;
struct Converted;

// What is asked of all operands, beside what the operator's own rules ask.
enum class Operands : uint8_t {
  Quantised,     // no u8; narrow integers have one scale
  OldQuantised,  // u8 too
  Weighted,  // those after the first may have a scale per channel, and are integers where it is one
  WeightsByChannel,  // those after the first may have a scale per channel
  FirstOnly,         // Quantised; those after the first become attributes, and are checked there
  AnyBytes,          // the bytes have no meaning for it
};

// How an operator of the format corresponds to one of ours: a row of known_operators.cpp.
struct KnownOperator {
  int32_t code;
  graph::OpKind kind;
  size_t least_inputs, most_inputs;           // as the format counts them
  std::vector<std::string_view> layer_names;  // lower-case beginnings, for node_name
  // Makes the attributes of an operator whose operands exist. Null: it has none, and keeps its operands.
  Converted (*convert)(OperatorReader& in) = nullptr;
  Operands operands = Operands::Quantised;
  size_t outputs = 1;
};

const std::vector<KnownOperator>& known_operators();

// One that the format does not number.
struct CustomOperator {
  std::string_view name;
  KnownOperator known;
};

const std::vector<CustomOperator>& custom_operators();

struct OperatorInfo {
  const format::Operator* raw = nullptr;
  size_t subgraph = 0;
  int32_t index = 0;
  int32_t code = 0;
  const KnownOperator* known = nullptr;      // null: we have no such operator
  const ProgramOperator* program = nullptr;  // of an operator that holds one
  std::string_view custom_code;              // empty: the format has a number for it
  std::string type;                          // "CONV_2D v3", "custom 'name' v1"
  std::string name;                          // the node's: unique, an identifier
  std::span<const int32_t> inputs, outputs;

  // Memory that a program works in: operands without a value.
  bool is_scratch(size_t input) const;

  std::string label() const;  // "operator 3 'conv_7' (CONV_2D v3)"
};

// Empty when a problem makes the list meaningless (indices out of range); all of them are reported.
std::optional<std::vector<OperatorInfo>> list_operators(const ModelFile& file,
                                                        const format::Subgraph& subgraph,
                                                        size_t number, const TensorTable& tensors,
                                                        Diagnostics& problems);

// "UNIQUE", "FlexErf", "215": the type of an operator whatever its version.
std::string type_name(const ModelFile& file, const OperatorInfo& op);

// Numbers of the subgraphs that a branch (two), a loop (two) or a call runs, as the file has them; empty for another
// operator, and where the options are not those of the operator.
std::vector<int64_t> subgraphs_run_by(const OperatorInfo& op);

// Reports every operator we do not have: what it is, which subgraphs it runs, who reads its
// outputs.
void report_unknown(const ModelFile& file, const format::Subgraph& subgraph,
                    const std::vector<OperatorInfo>& operators, Diagnostics& problems);

}  // namespace intarsia::tflite
