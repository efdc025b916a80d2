// What the families of operators share while a graph function becomes a Program: where the values
// of graph tensors lie, and the few operations that many of them need.
//
// A graph tensor is a Place: a box of an NPU tensor. Reshapes are the same bytes under another
// extent, inputs of a concatenation and of a pad are boxes of its output, slices are boxes of their
// input; a copy is made only where two of these requirements contradict each other.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "program/program.h"

namespace intarsia::targets::ethos_u {

// Images stand one above the other: [n, h, w, c] has the height n * h; missing axes have extent 1.
Extent extent_of(const Shape& shape);
// From numbers of 64 bits, as shapes have them.
inline Extent extent(int64_t height, int64_t width, int64_t depth) {
  return {static_cast<int32_t>(height), static_cast<int32_t>(width), static_cast<int32_t>(depth)};
}

// The box (origin, extent) of an operand, both in the operand's own elements.
Operand box(const Operand& operand, const Extent& origin, const Extent& extent);
// Rows n * h / count .. of an operand that holds `count` images.
Operand image(const Operand& operand, int64_t index, int64_t count);

// The box of a tensor of shape `shape` that begins at `begin` and has the shape `size`, as origin
// and extent; nothing when it is not a box of the tensor's extent, as of several images' upper
// rows.
struct Box {
  Extent origin, extent;
};
std::optional<Box> box_of(const Shape& shape, const Shape& begin, const Shape& size);

// Where smaller bands are asked for, they are a quarter of what they are else: still smaller ones would take time for little memory.
inline constexpr int32_t kNarrower = 4;

struct LegaliseOptions {
  // Convolutions of few channels may read windows that overlap in memory (gather.h), which takes
  // fewer cycles of the MAC array and more of the ports.
  bool may_gather = true;
  // Recurrent layers may make products of the input of several steps at once.
  bool may_look_ahead = true;
  // Parts of one tensor, and branches, may be made before the model has them, where that takes less memory at once.
  bool may_make_parts_early = true;
  // Operations keep to encodings that streams of Arm's compiler show, and no map lies inside of another one where that
  // makes its readers skip bytes between pixels.
  bool confirmed_only = false;
  // Sums that no registers make exact are the NPU's own, at most a step from TFLite's (sum_scales.h).
  bool rounds_sums = false;
  // Variables lie in the memory that maps between operations lie in.
  bool variables_are_fast = false;
  // Operators may go through 32 bits in small bands, which take longer and less memory; and the nodes that do (narrow_bands.h).
  bool may_narrow = true;
  std::set<std::string> narrow;
  // Of the OFM, which the MAC array makes at a time: where there are several ways to multiply, this says how long they take.
  Extent micro_block = {2, 2, 8};
};

class Builder {
 public:
  Builder(const graph::Module& module, const graph::Function& function,
          const LegaliseOptions& options);
  // Legalises every node and returns the program.
  Program run();
  bool confirmed_only() const { return options_.confirmed_only; }
  bool rounds_sums() const { return options_.rounds_sums; }
  const Extent& micro_block() const { return options_.micro_block; }

  const graph::Module& module() const { return module_; }
  const graph::Function& function() const { return function_; }
  const graph::Tensor& tensor(graph::TensorId id) const { return function_.tensor(id); }
  const Program& program() const { return program_; }
  // Whether convolutions may read windows that overlap in memory; and that one does.
  bool may_gather() const { return options_.may_gather; }
  void note_gather() { program_.gathers = true; }
  void note_copied_windows() { program_.gathers = program_.copies_windows = true; }
  // The same of products of the input of several steps at once.
  bool may_look_ahead() const { return options_.may_look_ahead; }
  void note_looking_ahead() { program_.looks_ahead = true; }

  // How many rows the node takes at a time: fewer where it is to keep to small bands, and that it could is noted.
  int64_t in_band(int64_t rows, int64_t fewer);

  // The tensor as an operand to read, with its zero point; `read_as` gives the same bytes another
  // extent. Writing: the value is in place after the node that writes it.
  Operand read(graph::TensorId id);
  Operand read_as(graph::TensorId id, const Extent& extent);
  Operand write(graph::TensorId id);
  Operand write_as(graph::TensorId id, const Extent& extent);
  // Whether `write_as` needs no copy for another extent.
  bool lies_in_one_piece(graph::TensorId id);
  // The box of `whole` that begins at `begin` and has the shape `size`, which `box_of` takes; of `whole` with the shape `of`, where that
  // is not its own and the box is read alone.
  Operand part(graph::TensorId whole, const Shape& begin, const Shape& size,
               const Shape& stride = {}, const Shape& of = {});
  // The bytes of an operand under another extent of as many elements.
  Operand reshaped(const Operand& operand, const Extent& extent);

  // Whether both are the same bytes in the same order, under whatever extents.
  bool are_same_bytes(const Operand& one, const Operand& other) const;

  // The operand as the whole of a tensor, copied where it is not.
  Operand in_one_piece(const Operand& operand);

  // A new tensor inside of the program, and a constant, as whole operands.
  Operand inner(const std::string& name, DataType type, const Extent& extent,
                int32_t zero_point = 0);
  Operand constant(const std::string& name, DataType type, const Extent& extent,
                   std::vector<uint8_t> bytes, int32_t zero_point = 0);
  Operand filled(DataType type, const Extent& extent, int64_t value);
  int32_t table(LookUpTable table);

  // An operation of the node that is being legalised, with its output's range as clamp.
  Operation start(OperationKind kind, const Operand& ifm, const Operand& ofm);
  void emit(Operation operation);

  // `from` as it is into `to`, of equal extents and element types; with `fill` only that value arrives.
  void copy(const Operand& from, const Operand& to, std::optional<int32_t> fill = std::nullopt);
  // Every byte of `from` through a table of 256 bytes, indexed from the least value on.
  void look_up(const Operand& from, const Operand& to, std::string name,
               std::vector<uint8_t> bytes);

  // The variable holds that value behind the program's last operation.
  void leave(const Operand& value, graph::TensorId variable);
  // Whether a node that reads a variable through `from` may make its next value in place, a step at a time, in place of leaving
  // it: nobody else sees the value, and it lies where other maps do.
  bool may_make_in_place(const Operand& from, graph::TensorId variable);

  // The node reads each of their elements before it writes that of `out`.
  void may_replace(const Operand& out, const std::vector<Operand>& read);

  DataType type_of(const Operand& operand) const;

  // A pad that all its readers do themselves, by the padding of their window; null: none.
  const graph::Node* folded_pad(graph::TensorId id) const;

 private:
  void declare_parameters();
  void find_folded_pads();
  void place_backwards();
  void place_views(const graph::Node& node);
  bool move_to(graph::TensorId id, const Operand& place);
  int64_t offset_of(const Operand& operand) const;
  const Operand& place(graph::TensorId id);
  const graph::Node* producer(graph::TensorId id) const;
  std::string name_of(graph::TensorId id) const;

  void leave_state();

  struct Copy {
    Operand from, to;
    const graph::Node* node = nullptr;  // of what is left for the next run
  };

  const graph::Module& module_;
  const graph::Function& function_;
  Program program_;
  LegaliseOptions options_;
  std::map<int32_t, Operand> places_;  // by graph tensor
  std::map<int32_t, const graph::Node*> producers_;
  std::map<int32_t, std::vector<const graph::Node*>> readers_;
  std::set<int32_t> outputs_;
  std::set<int32_t> folded_pads_;  // outputs of pads that leave no operation
  std::vector<Copy> after_node_, at_end_, left_;
  const graph::Node* node_ = nullptr;
};

}  // namespace intarsia::targets::ethos_u
