// One subgraph as a function. What its parts do is in files of their own:
//   subgraph_reader.cpp     the operators in order, the function at the end
//   check_subgraph.cpp      what must hold before any operator is converted
//   convert_variables.cpp   variables' reads and assignments as values
//   convert_control.cpp     branches and loops
//   convert_composed.cpp    operators that are several of ours
//   convert_rearranged.cpp   of these, elements that are put elsewhere
//   convert_fake_quant.cpp   of these, floats as a quantisation leaves them
//   convert_scatter.cpp     of these, elements that are put where indices say
//   convert_whole.cpp       of these, functions of plain whole numbers
//   convert_volume.cpp      of these, convolutions of volumes
//   convert_mixed.cpp       of these, integers that the format's kernels refuse
//   convert_landmarks.cpp   of these, parts of pictures that landmarks choose
//   convert_places.cpp      slices at places that are known as the model runs
//   convert_stream.cpp      operators that keep state
//   convert_unsigned.cpp    networks of bytes without a sign
//   convert_hybrid.cpp      float activations on integer weights
//   convert_hybrid_state.cpp   of these, operators that are several of ours
//   convert_sequence.cpp    recurrent layers that are several of ours
//   keep_compiled.cpp       programs that another compiler made
//   convert_whole_numbers.cpp   whole numbers of 64 bits
//   compute_at_import.cpp   operators whose results are known already
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "import/tflite/list_updates.h"
#include "import/tflite/model_reader.h"
#include "intarsia/plugin/check.h"

namespace intarsia::tflite {

struct SequenceCell;

class SubgraphReader {
 public:
  SubgraphReader(ModelReader& model, const Signature& signature, bool is_model)
      : model_(model),
        signature_(signature),
        is_model_(is_model),
        file_(model.file()),
        subgraph_(*model.subgraph(signature.subgraph).raw),
        problems_(model.problems()),
        tensors_(*model.subgraph(signature.subgraph).tensors),
        handles_(model.handles_of(signature.subgraph, signature.handles)) {}

  std::optional<graph::Function> read(const std::string& name);

 private:
  // A converted operator; operands are still the file's tensor numbers, or those of made_.
  struct Draft {
    graph::Node node;
    std::vector<int32_t> inputs, outputs;
  };

  void check_model_operands();
  void make_edges_signed();
  void centre_weights(const OperatorInfo& op);
  // True when a table or several operators compute what int8 would not.
  bool convert_unsigned(const OperatorInfo& op, OperatorReader& in);
  int32_t looked_up(const OperatorInfo& op, int32_t from, std::vector<int64_t> results,
                    graph::Tensor result);
  int32_t as_bytes(const OperatorInfo& op, int32_t id);
  void put_bytes(const OperatorInfo& op, graph::OpKind kind, std::vector<int32_t> inputs);
  void tabulate_unsigned(const OperatorInfo& op, graph::OpKind function);
  void average_unsigned(const OperatorInfo& op, OperatorReader& in);
  void concatenate_unsigned(const OperatorInfo& op, OperatorReader& in);
  void softmax_unsigned(const OperatorInfo& op, OperatorReader& in);
  void resize_unsigned(const OperatorInfo& op, OperatorReader& in);
  void detect_in_floats(const OperatorInfo& op, Draft& draft);
  int32_t edge_output(int32_t id);
  void note_open_extents(int32_t id);
  void note_other_floats();
  void take_shapes();
  void take_values(const std::vector<std::string>& names);
  void check_data_flow(const std::vector<OperatorInfo>& operators);
  void check_arena(const std::vector<OperatorInfo>& operators);
  void convert(const OperatorInfo& op);
  void keep_compiled(const OperatorInfo& op);
  bool is_written_later(const OperatorInfo& op, int32_t id) const;
  int32_t make_version(int32_t id, const OperatorInfo& op);
  void read_variable(const OperatorInfo& op);
  void assign_variable(const OperatorInfo& op);
  void call_once(const OperatorInfo& op);
  void convert_control(const OperatorInfo& op);
  // True when the operator is several of ours.
  bool compose(const OperatorInfo& op, OperatorReader& in);
  void compose_relu_0_to_1(const OperatorInfo& op, OperatorReader& in);
  void compose_one_hot(const OperatorInfo& op, OperatorReader& in);
  void compose_local_response(const OperatorInfo& op, OperatorReader& in);
  void compose_list_update(const OperatorInfo& op, const ListUpdate& update);
  void compose_top_k(const OperatorInfo& op, OperatorReader& in);
  void compose_sign(const OperatorInfo& op, OperatorReader& in);
  void compose_scatter_nd(const OperatorInfo& op, OperatorReader& in);
  void compose_segments(const OperatorInfo& op, OperatorReader& in);
  void compose_sparse_to_dense(const OperatorInfo& op, OperatorReader& in);
  // True when it is of whole numbers.
  bool compose_whole_function(const OperatorInfo& op, OperatorReader& in);
  void compose_xor(const OperatorInfo& op, OperatorReader& in);
  void compose_right_shift(const OperatorInfo& op, OperatorReader& in);
  void compose_buckets(const OperatorInfo& op, OperatorReader& in);
  void put_narrowed(const OperatorInfo& op, graph::OpKind kind, std::vector<int32_t> inputs,
                    const Shape& shape);
  std::optional<Shape> shape_of_pair(OperatorReader& in);
  void run_composite(const OperatorInfo& op);
  bool refuses_mixed_types(OperatorReader& in);
  int32_t as_reals(const OperatorInfo& op, OperatorReader& in, size_t operand);
  // The operator on floats, whose result the output's integers stand for.
  void put_quantised(const OperatorInfo& op, graph::Attributes attributes,
                     std::vector<int32_t> reals, const Shape& shape);
  bool compose_beside_reals(const OperatorInfo& op, OperatorReader& in, size_t first);
  bool compose_square(const OperatorInfo& op, OperatorReader& in);
  bool compose_comparison(const OperatorInfo& op, OperatorReader& in);
  void compose_volume(const OperatorInfo& op, OperatorReader& in);
  void compose_transposed_volume(const OperatorInfo& op, OperatorReader& in);
  bool compose_computed_weights(const OperatorInfo& op, OperatorReader& in);
  bool compose_pad_with_real(const OperatorInfo& op, OperatorReader& in);
  int32_t with_32_bits(const OperatorInfo& op, size_t operand);
  // Who writes many nodes of an operator gets `put` and `make` as functions.
  template <typename Writer>
  Writer writer_for(const OperatorInfo& op) {
    return Writer(
        [this, &op](graph::OpKind kind, graph::Attributes attributes, std::vector<int32_t> inputs,
                    graph::Tensor result) {
          return put(op, kind, std::move(attributes), std::move(inputs), std::move(result));
        },
        [this](MadeConstant constant) { return make(std::move(constant)); });
  }
  // True when it is a transform of floats.
  bool compose_transform(const OperatorInfo& op, OperatorReader& in);
  void compose_rfft2d(const OperatorInfo& op, OperatorReader& in);
  void compose_complex(const OperatorInfo& op, OperatorReader& in);
  void compose_spectrogram(const OperatorInfo& op, OperatorReader& in);
  void compose_mfcc(const OperatorInfo& op, OperatorReader& in);
  void compose_landmark_matrix(const OperatorInfo& op, OperatorReader& in);
  void compose_transformed_picture(const OperatorInfo& op, OperatorReader& in);
  void compose_transformed_landmarks(const OperatorInfo& op, OperatorReader& in);
  void compose_decode(const OperatorInfo& op, OperatorReader& in);
  void compose_suppression(const OperatorInfo& op, OperatorReader& in);
  bool compose_stream(const OperatorInfo& op, OperatorReader& in);
  void compose_circular_buffer(const OperatorInfo& op, OperatorReader& in);
  void compose_delay(const OperatorInfo& op, OperatorReader& in);
  void compose_framer(const OperatorInfo& op, OperatorReader& in);
  void compose_stacker(const OperatorInfo& op, OperatorReader& in);
  void compose_overlap_add(const OperatorInfo& op, OperatorReader& in);
  void compose_spectral_subtraction(const OperatorInfo& op, OperatorReader& in);
  int32_t part_of(const OperatorInfo& op, int32_t from, int64_t begin, int64_t size);
  VariableId remember(const OperatorInfo& op, std::string_view what, graph::Tensor kept,
                      std::vector<uint8_t> initial = {});
  int32_t behind_memory(const OperatorInfo& op, OperatorReader& in, int64_t length);
  void count_steps(const OperatorInfo& op, int64_t steps, int64_t needed);
  int32_t saturated_sum(const OperatorInfo& op, int32_t a, int32_t b);
  void compose_diagonal(const OperatorInfo& op, OperatorReader& in);
  // A number: `base` is a tensor of one, or -1 where all is known.
  struct Place {
    int32_t base;
    int64_t offset;
  };
  const OperatorInfo* maker(int32_t id, const OperatorInfo* before) const;
  Place place_of(int32_t id);
  std::vector<Place> places_of(int32_t id);
  bool compose_placed_slice(const OperatorInfo& op, OperatorReader& in);
  void hand_shapes(const OperatorInfo& op, size_t first, size_t callee);
  bool compose_long_place(const OperatorInfo& op, OperatorReader& in);
  bool compose_product(const OperatorInfo& op, OperatorReader& in);
  void compose_reverse_sequence(const OperatorInfo& op, OperatorReader& in);
  bool compose_chosen_parts(const OperatorInfo& op, OperatorReader& in);
  void compose_dilate(const OperatorInfo& op, OperatorReader& in);
  int32_t put_gaps(const OperatorInfo& op, OperatorReader& in, graph::Tensor& made, int32_t fill,
                   const std::vector<int64_t>& steps);
  void compose_gapped_pad(const OperatorInfo& op, OperatorReader& in);
  void compose_fake_quant(const OperatorInfo& op, OperatorReader& in);
  // One of several nodes of an operator: makes a new tensor, or the operator's output.
  void count_with_32_bits(const OperatorInfo& op, Draft& draft);
  int32_t put(const OperatorInfo& op, graph::OpKind kind, graph::Attributes attributes,
              std::vector<int32_t> inputs, graph::Tensor result);
  void put_last(const OperatorInfo& op, graph::OpKind kind, graph::Attributes attributes,
                std::vector<int32_t> inputs, size_t output = 0);
  // True when it is several operators, which are drafts already.
  bool convert_hybrid(const OperatorInfo& op, Draft& draft, bool asymmetric);
  std::array<int32_t, 3> quantised_rows(const std::string& reader, int32_t id, int64_t rows,
                                        bool asymmetric);
  void compose_hybrid_transposed(const OperatorInfo& op, const Draft& draft, bool asymmetric);
  void compose_hybrid_matrices(const OperatorInfo& op, const Draft& draft, bool asymmetric);
  void compose_hybrid_svdf(const OperatorInfo& op, const Draft& draft, bool asymmetric);
  int32_t hybrid_product(const OperatorInfo& op, int32_t input, int32_t weights, int32_t bias,
                         bool asymmetric);
  int32_t stacked(const OperatorInfo& op, std::span<const int32_t> gates, std::string_view what);
  // True when the layer is several operators.
  struct Direction;
  bool compose_sequence(const OperatorInfo& op, OperatorReader& in);
  void compose_lstm_cell(const OperatorInfo& op, OperatorReader& in);
  static std::vector<Direction> directions_of(const OperatorInfo& op);
  int32_t operand_of(const OperatorInfo& op, size_t place);
  MadeConstant copied(int32_t constant);
  std::optional<MadeConstant> known_vector(const OperatorInfo& op, size_t place, int64_t count);
  int32_t stacked_operands(const OperatorInfo& op, std::span<const size_t> places,
                           std::string_view what);
  int32_t product_of_rows(const OperatorInfo& op, int32_t input, int32_t weights, int32_t bias,
                          bool asymmetric);
  std::vector<int32_t> written_out(const OperatorInfo& op, const graph::Module& module,
                                   const graph::Function& function,
                                   std::span<const int32_t> inputs);
  int32_t put_steps(const OperatorInfo& op, const SequenceCell& cell, std::string_view which,
                    int32_t from_input, const Direction& direction);
  int32_t read_direction(const OperatorInfo& op, const Direction& direction, int32_t input,
                         int32_t beside, SequenceCell& cell);
  // True when its value is known from now on.
  bool dequantize_constant(const OperatorInfo& op, OperatorReader& in);
  bool quantize_constant(const OperatorInfo& op, OperatorReader& in);
  void densify(const OperatorInfo& op, OperatorReader& in);
  void compose_embedding(const OperatorInfo& op, OperatorReader& in);
  int32_t widened(int32_t weights);
  int32_t transposed(int32_t weights);
  void hand_on(const OperatorInfo& op, int32_t value);
  void hold(const OperatorInfo& op, std::vector<uint8_t> bytes);
  int32_t narrowed(const OperatorInfo& op, int32_t id);
  bool compute_with_32_bits(const OperatorInfo& op, const Draft& draft);
  std::optional<Shape> shape_of_result(const Draft& draft, const std::vector<int32_t>& inputs,
                                       const graph::Tensor& result);
  void is_same(const OperatorInfo& op);
  bool find_out(const OperatorInfo& op, const Draft& draft);
  void assign_at_end();
  graph::Function assemble(const std::string& name);

  void problem(const OperatorInfo& op, std::string what, std::string hint = {}) {
    problems_.add(fmt::format("{}: {}", file_.name(), op.label()), std::move(what),
                  std::move(hint));
  }
  int32_t make(MadeConstant tensor) {
    made_.push_back(std::move(tensor));
    return static_cast<int32_t>(tensors_.count() + made_.size() - 1);
  }
  // The tensor that holds what the file's tensor holds: reads of variables are other names.
  int32_t current(int32_t id) const {
    const auto found = same_as_.find(id);
    return found == same_as_.end() ? id : found->second;
  }
  std::optional<VariableId> handle(const OperatorInfo& op, int32_t id) {
    const auto found = handles_.find(id);
    if (found != handles_.end() && model_.variable(found->second).tensor) return found->second;
    problem(op, found == handles_.end() ? "works on something that is no handle of a variable"
                                        : "works on a variable whose type is not known");
    return std::nullopt;
  }
  int32_t value_of(VariableId id);
  // What the model returns is computed by an operator of it.
  bool is_result(int32_t id) const {
    return is_model_ &&
           std::ranges::find(values(subgraph_.outputs()), id) != values(subgraph_.outputs()).end();
  }
  std::string unique_name(const std::string& hint);
  const graph::Tensor& tensor(int32_t id) {
    const auto at = static_cast<size_t>(id);
    if (at >= tensors_.count()) return made_[at - tensors_.count()].tensor;
    const graph::Tensor* converted = tensors_.get(id, "");
    INTARSIA_CHECK(converted != nullptr, "an operator is converted when its operands are good");
    return *converted;
  }
  // The bytes of a constant; empty when it is none.
  std::span<const uint8_t> bytes(int32_t id) const {
    const auto at = static_cast<size_t>(id);
    return at >= tensors_.count() ? std::span<const uint8_t>(made_[at - tensors_.count()].bytes)
                                  : tensors_.data(id);
  }

  ModelReader& model_;
  const Signature& signature_;
  const bool is_model_;
  const ModelFile& file_;
  const format::Subgraph& subgraph_;
  Diagnostics& problems_;
  TensorTable& tensors_;
  const ModelReader::Handles handles_;
  std::vector<Draft> drafts_;
  // Tensors that the file does not hold; their numbers follow those of the file's tensors.
  std::vector<MadeConstant> made_;
  std::vector<int32_t> taken_;  // variables' values that are inputs
  std::map<int32_t, int32_t> same_as_;
  std::map<int32_t, int32_t> widened_;  // weights, as floats
  std::set<int32_t> given_;             // inputs that the user made constants
  std::map<int32_t, int32_t> edges_;    // inputs of bytes without a sign, by what they are inside
  // What quantize_rows has made: by input, rows, and whether asymmetric.
  std::map<std::tuple<int32_t, int64_t, bool>, std::array<int32_t, 3>> quantised_rows_;
  ListUpdates list_updates_;
  // Constants of functions that were written out, by the function and its tensor.
  std::map<std::pair<std::string, int32_t>, int32_t> written_constants_;
  std::map<VariableId, int32_t> values_;     // what each variable holds now
  std::map<VariableId, int32_t> variables_;  // the model's own tensors of them
  std::set<std::string> names_;
  // Operators that end invocations early, and the drafts that say whether the model goes on.
  struct EarlyEnd {
    const OperatorInfo* op;
    size_t draft;
  };
  std::vector<EarlyEnd> early_ends_;
  std::map<int32_t, int32_t> arenas_;  // by the file's tensor: what the last program left in it
};

}  // namespace intarsia::tflite
