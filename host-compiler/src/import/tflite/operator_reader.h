// One operator while it becomes a node: its operands and options, with every question about them
// answered or reported. The convert_*.cpp files hold what is particular to each kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "import/made_constant.h"
#include "import/tflite/tflite_operators.h"

namespace intarsia::tflite {

class OperatorReader {
 public:
  // `widens_weights`: integer weights that meet float activations become floats.
  OperatorReader(const ModelFile& file, const OperatorInfo& op, TensorTable& tensors,
                 Diagnostics& problems, bool widens_weights)
      : file_(file),
        op_(op),
        tensors_(tensors),
        problems_(problems),
        widens_weights_(widens_weights) {}

  const OperatorInfo& op() const { return op_; }
  void problem(std::string what, std::string hint = {});
  bool clean() const { return clean_; }  // nothing reported so far

  // Checks the operands' number, presence, tensors, and the rules that hold for every kind.
  // Afterwards input() and output() may be called.
  bool open();

  bool has_input(size_t i) const { return i < op_.inputs.size() && op_.inputs[i] >= 0; }
  const graph::Tensor& input(size_t i) const { return *inputs_[i]; }
  size_t input_count() const { return op_.inputs.size(); }
  const graph::Tensor& output(size_t i = 0) const { return *outputs_[i]; }
  size_t output_count() const { return op_.outputs.size(); }
  bool is_variable(size_t i) const { return has_input(i) && tensors_.is_variable(op_.inputs[i]); }
  // Float activations meet constant integer weights, and something can be done about it.
  bool is_hybrid() const { return is_hybrid_; }
  // Sees whether operand `weights` makes it one; reported where nothing can be done.
  void check_hybrid(size_t weights);
  // Of complex numbers, read as floats with an axis of two behind the others.
  bool is_complex(size_t i) const { return has_input(i) && tensors_.is_complex(op_.inputs[i]); }
  bool is_dynamic_output() const { return tensors_.is_dynamic(op_.outputs[0]); }
  // The output's extents, when the converter did not know them; reported when it did and they differ.
  void decide_shape(const Shape& shape);
  std::string input_label(size_t i) const { return tensors_.label(op_.inputs[i]); }

  // The values of a constant integer operand of any signed width.
  std::vector<int64_t> constant_values(size_t i) const;
  bool is_constant(size_t i) const { return has_input(i) && tensors_.has_data(op_.inputs[i]); }
  // `axis` counted from the front; reported when it is none of `rank` axes.
  int64_t axis(int64_t axis, size_t rank);
  // The values of a constant int32 or int64 operand. Reported and empty when it is none.
  std::optional<std::vector<int64_t>> integers(size_t i, std::string_view role);

  // The options of type T. Null when the file has none, or (reported) those of another operator.
  template <typename T>
  const T* options() {
    if (const T* own = op_.raw->options_as<T>()) return own;
    if (op_.raw->options_type() != format::Options::NONE) {
      problem(std::string("carries the options of another operator (") +
              format::EnumNameOptions(op_.raw->options_type()) + ")");
    }
    return nullptr;
  }
  template <typename T>
  const T* required_options() {
    const T* own = options<T>();
    if (own == nullptr && clean_) problem("has no options; the file is incomplete");
    return own;
  }

  graph::Activation activation(format::Activation raw);
  // Strides, dilations and filters: 1..65535.
  int64_t positive(int32_t value, std::string_view role);

 private:
  void check_types();
  void check_wide_operands();
  void check_complex_operands();

  const ModelFile& file_;
  const OperatorInfo& op_;
  TensorTable& tensors_;
  Diagnostics& problems_;
  const bool widens_weights_;
  bool clean_ = true, is_hybrid_ = false;
  std::vector<const graph::Tensor*> inputs_, outputs_;
};

using import::little_endian;
using import::MadeConstant;
using import::real_constant;

// Constants grow with extents that a file merely states: false, and a problem, where one would have too many elements.
bool can_be_made(OperatorReader& in, int64_t rows, int64_t columns);

// What a kind makes of its operator. Operands beyond `kept` became attributes and vanish.
struct Converted {
  graph::Attributes attributes;
  size_t kept = SIZE_MAX;
  // When not empty: the operands, as numbers of inputs (kAbsent: none), instead of the first `kept`.
  std::vector<size_t> operands = {};
  std::vector<size_t> states = {};        // inputs that the operator writes as well
  std::optional<MadeConstant> bias = {};  // takes the place of operand 2
  std::optional<MadeConstant> only = {};  // takes the place of all operands
  bool asymmetric = false;  // hybrid: rows of the input are quantised with a zero point

  static constexpr size_t kAbsent = SIZE_MAX;
};

// Each is called after open() succeeded, and reports through the reader.
Converted convert_conv2d(OperatorReader& in);
Converted convert_depthwise_conv2d(OperatorReader& in);
Converted convert_pool2d(OperatorReader& in);
Converted convert_fully_connected(OperatorReader& in);
Converted convert_transpose_conv2d(OperatorReader& in);
Converted convert_biased_transpose_conv2d(OperatorReader& in);
Converted convert_batch_space(OperatorReader& in);
Converted convert_broadcast_to(OperatorReader& in);
Converted convert_concat(OperatorReader& in);
Converted convert_depth_to_space(OperatorReader& in);
Converted convert_gather(OperatorReader& in);
Converted convert_lstm(OperatorReader& in);
Converted convert_mirror_pad(OperatorReader& in);
Converted convert_pack(OperatorReader& in);
Converted convert_pad(OperatorReader& in);
Converted convert_resize_bilinear(OperatorReader& in);
Converted convert_resize_nearest(OperatorReader& in);
Converted convert_reverse(OperatorReader& in);
Converted convert_slice(OperatorReader& in);
Converted convert_space_to_depth(OperatorReader& in);
Converted convert_split(OperatorReader& in);
Converted convert_strided_slice(OperatorReader& in);
Converted convert_svdf(OperatorReader& in);
Converted convert_tile(OperatorReader& in);
Converted convert_transpose(OperatorReader& in);
Converted convert_unpack(OperatorReader& in);

}  // namespace intarsia::tflite
