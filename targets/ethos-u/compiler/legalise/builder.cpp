#include "legalise/builder.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "legalise/beside.h"
#include "legalise/fuse.h"
#include "legalise/interleave.h"
#include "legalise/legalise.h"
#include "legalise/narrow_bands.h"
#include "legalise/operators.h"
#include "legalise/order.h"
#include "legalise/pieces.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;
using graph::OpKind;
using graph::TensorId;

constexpr Extent kOrigin = {0, 0, 0};
constexpr Extent kUnitStep = {1, 1, 1};

int64_t element_bytes(DataType type) {
  return bits(type) / 8;
}

// The box's elements follow each other in the tensor without a gap.
bool contiguous(const Operand& box, const Extent& tensor) {
  const Extent& e = box.extent;
  return box.step == kUnitStep && (e.depth == tensor.depth || (e.height == 1 && e.width == 1)) &&
         (e.width == tensor.width || e.height == 1);
}

bool joins(const Node& node) {
  return node.kind == OpKind::Concat || node.kind == OpKind::Pack;
}
bool splits(const Node& node) {
  return node.kind == OpKind::Split || node.kind == OpKind::Unpack || node.kind == OpKind::Slice;
}

}  // namespace

Extent extent_of(const Shape& shape) {
  Extent extent;
  const size_t rank = shape.size();
  int64_t height = 1;
  for (size_t i = 0; i + 2 < rank; ++i) height *= shape[i];
  extent.height = static_cast<int32_t>(height);
  if (rank >= 2) extent.width = static_cast<int32_t>(shape[rank - 2]);
  if (rank >= 1) extent.depth = static_cast<int32_t>(shape[rank - 1]);
  return extent;
}

std::optional<Box> box_of(const Shape& shape, const Shape& begin, const Shape& size) {
  const size_t rank = shape.size();
  Box result{kOrigin, extent_of(size)};
  if (rank >= 1) result.origin.depth = static_cast<int32_t>(begin[rank - 1]);
  if (rank >= 2) result.origin.width = static_cast<int32_t>(begin[rank - 2]);
  // The leading axes are one: after the first that is cut, all have to be whole, or single before
  // it.
  int64_t row = 0;
  bool cut = false;
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (cut && size[i] != shape[i]) return std::nullopt;
    if (size[i] != 1) cut = true;
    row = row * shape[i] + begin[i];
  }
  result.origin.height = static_cast<int32_t>(row);
  return result;
}

Operand box(const Operand& operand, const Extent& origin, const Extent& extent) {
  Operand result = operand;
  result.origin.height += operand.step.height * origin.height;
  result.origin.width += operand.step.width * origin.width;
  result.origin.depth += operand.step.depth * origin.depth;
  result.extent = extent;
  return result;
}

Operand image(const Operand& operand, int64_t index, int64_t count) {
  Extent extent = operand.extent;
  extent.height = static_cast<int32_t>(extent.height / count);
  return box(operand, {static_cast<int32_t>(index * extent.height), 0, 0}, extent);
}

Builder::Builder(const graph::Module& module, const graph::Function& function,
                 const LegaliseOptions& options)
    : module_(module), function_(function), options_(options) {
  program_.name = function.name;
  for (const Node& node : function.nodes) {
    for (const TensorId id : node.outputs) producers_[id.index] = &node;
    for (const TensorId id : node.inputs)
      if (id.valid()) readers_[id.index].push_back(&node);
  }
  for (const TensorId id : function.outputs) outputs_.insert(id.index);
}

Program Builder::run() {
  declare_parameters();
  find_folded_pads();
  place_backwards();
  for (const Node& node : function_.nodes) {
    node_ = &node;
    if (node.kind == OpKind::Pad && folded_pads_.contains(node.outputs.at(0).index)) continue;
    const OperatorRule* rule = find_rule(node.kind);
    INTARSIA_CHECK(rule != nullptr, "the partitioner hands over what the patterns took");
    place_views(node);
    rule->legalise(*this, node);
    for (const Copy& todo : std::exchange(after_node_, {})) copy(todo.from, todo.to);
  }
  for (const Copy& todo : at_end_) copy(todo.from, todo.to);
  leave_state();
  return std::move(program_);
}

// What is left for the next run lies where this one has found something, which all others have read by now. What is still to be
// read of it, as where two variables are exchanged, is copied out first.
void Builder::leave_state() {
  for (Copy& todo : left_) {
    const NpuTensor& from = program_.tensors.at(static_cast<size_t>(todo.from.tensor));
    const NpuTensor& root =
        from.alias_of < 0 ? from : program_.tensors.at(static_cast<size_t>(from.alias_of));
    if (root.kind != NpuTensor::Kind::State && root.kind != NpuTensor::Kind::Input) continue;
    node_ = todo.node;
    const Operand apart = inner(from.name, from.type, todo.from.extent, todo.from.zero_point);
    copy(todo.from, apart);
    todo.from = apart;
  }
  for (const Copy& todo : left_) {
    node_ = todo.node;
    copy(todo.from, todo.to);
  }
}

void Builder::leave(const Operand& value, TensorId variable) {
  const Operand to = write(variable);
  program_.tensors.at(static_cast<size_t>(to.tensor)).is_kept = true;
  left_.push_back({reshaped(value, to.extent), to, node_});
}

bool Builder::may_make_in_place(const Operand& from, TensorId variable) {
  if (!options_.variables_are_fast || write(variable).tensor != from.tensor) return false;
  NpuTensor& kept = program_.tensors.at(static_cast<size_t>(from.tensor));
  int64_t uses = 0;
  for (const Node& node : function_.nodes)
    for (const TensorId id : node.inputs) uses += id.valid() && id.index == variable.index ? 1 : 0;
  if (kept.kind != NpuTensor::Kind::State || uses != 1) return false;
  kept.is_kept = true;
  return true;
}

std::string Builder::name_of(TensorId id) const {
  const std::string& name = tensor(id).name;
  return name.empty() ? fmt::format("t{}", id.index) : name;
}

DataType Builder::type_of(const Operand& operand) const {
  return program_.tensors.at(static_cast<size_t>(operand.tensor)).type;
}

const Node* Builder::producer(TensorId id) const {
  const auto found = producers_.find(id.index);
  return found == producers_.end() ? nullptr : found->second;
}

void Builder::declare_parameters() {
  const auto declare = [&](TensorId id, NpuTensor::Kind kind, size_t index) {
    Operand operand = inner(name_of(id), tensor(id).type, extent_of(tensor(id).shape));
    NpuTensor& made = program_.tensors.back();
    made.kind = kind;
    made.parameter = static_cast<int32_t>(index);
    return operand;
  };
  for (size_t i = 0; i < function_.inputs.size(); ++i)
    places_.try_emplace(function_.inputs[i].index,
                        declare(function_.inputs[i], NpuTensor::Kind::Input, i));
  for (size_t i = 0; i < function_.outputs.size(); ++i) {
    const TensorId id = function_.outputs[i];
    const Operand made = declare(id, NpuTensor::Kind::Output, i);
    if (!tensor(id).constant.valid() && places_.try_emplace(id.index, made).second) continue;
    node_ = function_.nodes.empty() ? nullptr : &function_.nodes.back();
    at_end_.push_back({place(id), made});  // an input, a constant, or an output named twice
  }
  for (size_t i = 0; i < function_.tensors.size(); ++i) {
    const TensorId id{static_cast<int32_t>(i)};
    if (tensor(id).variable && !places_.contains(id.index))
      places_.try_emplace(id.index, declare(id, NpuTensor::Kind::State, i));
  }
}

void Builder::find_folded_pads() {
  for (const Node& node : function_.nodes) {
    if (node.kind != OpKind::Pad) continue;
    const TensorId id = node.outputs.at(0);
    const std::vector<const Node*>& readers = readers_[id.index];
    if (readers.empty() || outputs_.contains(id.index)) continue;
    if (std::all_of(readers.begin(), readers.end(), [&](const Node* reader) {
          return folds_into_window({module_, function_, node}, {module_, function_, *reader});
        }))
      folded_pads_.insert(id.index);
  }
}

const Node* Builder::folded_pad(TensorId id) const {
  return folded_pads_.contains(id.index) ? producer(id) : nullptr;
}

bool Builder::move_to(TensorId id, const Operand& to) {
  if (!id.valid() || tensor(id).constant.valid() || places_.contains(id.index)) return false;
  places_[id.index] = to;
  return true;
}

// From the end to the beginning: what a later operator makes of a tensor decides where it is made.
void Builder::place_backwards() {
  for (auto node = function_.nodes.rbegin(); node != function_.nodes.rend(); ++node) {
    const TensorId out = node->outputs.at(0);
    if (node->kind == OpKind::Reshape && places_.contains(out.index)) {
      const Operand to = places_.at(out.index);
      if (contiguous(to, program_.tensors.at(static_cast<size_t>(to.tensor)).extent))
        move_to(node->inputs.at(0), reshaped(to, extent_of(tensor(node->inputs.at(0)).shape)));
    }
    if (joins(*node))
      for (const Part& each : parts_of(function_, *node))
        // Who else reads the part would find other bytes between its pixels.
        if (each.of.empty() && extent_of(each.size) == extent_of(tensor(each.tensor).shape) &&
            (!options_.confirmed_only || readers_[each.tensor.index].size() == 1))
          move_to(each.tensor, part(out, each.begin, each.size));
    if ((node->kind == OpKind::Pad || node->kind == OpKind::PadV2) &&
        !folded_pads_.contains(out.index) &&
        (!options_.confirmed_only || readers_[node->inputs.at(0).index].size() == 1)) {
      const Shape &before = node->attrs<graph::PadAttrs>().before,
                  &in = tensor(node->inputs.at(0)).shape;
      if (box_of(tensor(out).shape, before, in)) move_to(node->inputs.at(0), part(out, before, in));
    }
  }
}

// Outputs that are another view of an input.
void Builder::place_views(const Node& node) {
  if (splits(node)) {
    for (const Part& each : parts_of(function_, node))
      if (each.of.empty() && extent_of(each.size) == extent_of(tensor(each.tensor).shape))
        places_.try_emplace(each.tensor.index,
                            part(node.inputs.at(0), each.begin, each.size, each.stride));
    return;
  }
  const bool is_view = node.kind == OpKind::Reshape || node.kind == OpKind::ReadVariable;
  if (!is_view || places_.contains(node.outputs.at(0).index)) return;
  const TensorId in = node.inputs.at(0), out = node.outputs.at(0);
  places_[out.index] = reshaped(place(in), extent_of(tensor(out).shape));
}

const Operand& Builder::place(TensorId id) {
  const auto found = places_.find(id.index);
  if (found != places_.end()) return found->second;
  const graph::Tensor& t = tensor(id);
  const Extent extent = extent_of(t.shape);
  return places_[id.index] = t.constant.valid() ? constant(name_of(id), t.type, extent,
                                                           module_.constant(t.constant).bytes)
                                                : inner(name_of(id), t.type, extent);
}

Operand Builder::read(TensorId id) {
  Operand operand = place(id);
  operand.zero_point = zero_point_of(tensor(id));
  return operand;
}

Operand Builder::read_as(TensorId id, const Extent& extent) {
  return reshaped(read(id), extent);
}

Operand Builder::write(TensorId id) {
  return read(id);
}

Operand Builder::write_as(TensorId id, const Extent& extent) {
  const Operand to = write(id);
  if (to.extent == extent) return to;
  if (lies_in_one_piece(id)) return reshaped(to, extent);
  const NpuTensor& whole = program_.tensors.at(static_cast<size_t>(to.tensor));
  const Operand made = inner(name_of(id), whole.type, extent, to.zero_point);
  after_node_.push_back({reshaped(made, to.extent), to});
  return made;
}

bool Builder::lies_in_one_piece(TensorId id) {
  const Operand to = write(id);
  return contiguous(to, program_.tensors.at(static_cast<size_t>(to.tensor)).extent);
}

Operand Builder::part(TensorId whole, const Shape& begin, const Shape& size, const Shape& stride,
                      const Shape& of) {
  const Shape& shape = of.empty() ? tensor(whole).shape : of;
  const std::optional<Box> b = box_of(shape, begin, size);
  INTARSIA_CHECK(b.has_value(), "rules take only what is a box");
  Operand result = box(read_as(whole, extent_of(shape)), b->origin, b->extent);
  // Where a leading axis is stepped over, it is the only one.
  for (size_t i = 0; i < stride.size(); ++i) {
    if (size[i] == 1) continue;
    int32_t& step = i + 1 == stride.size()   ? result.step.depth
                    : i + 2 == stride.size() ? result.step.width
                                             : result.step.height;
    step *= static_cast<int32_t>(stride[i]);
  }
  return result;
}

// Of the operand's first byte in the tensor whose bytes it is.
int64_t Builder::offset_of(const Operand& operand) const {
  const NpuTensor& whole = program_.tensors.at(static_cast<size_t>(operand.tensor));
  const Extent& o = operand.origin;
  const int64_t elements =
      (int64_t{o.height} * whole.extent.width + o.width) * whole.extent.depth + o.depth;
  return whole.alias_offset + elements * element_bytes(whole.type);
}

bool Builder::are_same_bytes(const Operand& one, const Operand& other) const {
  const auto in_one_piece = [&](const Operand& operand) {
    return contiguous(operand, program_.tensors.at(static_cast<size_t>(operand.tensor)).extent);
  };
  if (one.extent.elements() != other.extent.elements()) return false;
  if (one.tensor == other.tensor && one.extent == other.extent && one.step == other.step)
    return one.origin == other.origin;
  return program_.root_of(one.tensor) == program_.root_of(other.tensor) && in_one_piece(one) &&
         in_one_piece(other) && offset_of(one) == offset_of(other);
}

Operand Builder::reshaped(const Operand& operand, const Extent& extent) {
  if (operand.extent == extent) return operand;
  INTARSIA_CHECK(operand.extent.elements() == extent.elements(), "a reshape keeps the elements");
  const NpuTensor whole = program_.tensors.at(static_cast<size_t>(operand.tensor));
  if (!contiguous(operand, whole.extent)) {
    return reshaped(in_one_piece(operand), extent);
  }
  const int64_t offset = offset_of(operand);
  const int32_t root = program_.root_of(operand.tensor);
  Operand result = operand;
  result.origin = kOrigin;
  result.extent = extent;
  const auto is_it = [&](size_t i) {
    const NpuTensor& t = program_.tensors[i];
    const bool same_bytes = static_cast<int32_t>(i) == root
                                ? offset == 0
                                : t.alias_of == root && t.alias_offset == offset;
    return same_bytes && t.extent == extent;
  };
  for (size_t i = 0; i < program_.tensors.size(); ++i)
    if (is_it(i)) return result.tensor = static_cast<int32_t>(i), result;
  result.tensor = inner(whole.name, whole.type, extent).tensor;
  program_.tensors.back().alias_of = root;
  program_.tensors.back().alias_offset = offset;
  return result;
}

Operand Builder::in_one_piece(const Operand& operand) {
  const NpuTensor whole = program_.tensors.at(static_cast<size_t>(operand.tensor));
  if (operand.extent == whole.extent && operand.step == kUnitStep && !operand.walk) return operand;
  const Operand dense = inner(whole.name, whole.type, operand.extent, operand.zero_point);
  copy(operand, dense);
  return dense;
}

Operand Builder::inner(const std::string& name, DataType type, const Extent& extent,
                       int32_t zero_point) {
  NpuTensor made;
  made.name = name;
  made.type = type;
  made.extent = extent;
  program_.tensors.push_back(std::move(made));
  return {.tensor = static_cast<int32_t>(program_.tensors.size()) - 1,
          .extent = extent,
          .zero_point = zero_point};
}

Operand Builder::constant(const std::string& name, DataType type, const Extent& extent,
                          std::vector<uint8_t> bytes, int32_t zero_point) {
  for (size_t i = 0; i < program_.tensors.size(); ++i) {
    const NpuTensor& t = program_.tensors[i];
    if (t.kind == NpuTensor::Kind::Constant && t.type == type && t.extent == extent &&
        t.bytes == bytes)
      return {.tensor = static_cast<int32_t>(i), .extent = extent, .zero_point = zero_point};
  }
  const Operand operand = inner(name, type, extent, zero_point);
  program_.tensors.back().kind = NpuTensor::Kind::Constant;
  program_.tensors.back().bytes = std::move(bytes);
  return operand;
}

Operand Builder::filled(DataType type, const Extent& extent, int64_t value) {
  const auto size = static_cast<size_t>(element_bytes(type));
  std::vector<uint8_t> bytes(static_cast<size_t>(extent.elements()) * size);
  for (size_t i = 0; i < bytes.size(); i += size)
    for (size_t b = 0; b < size; ++b) bytes[i + b] = static_cast<uint8_t>(value >> (8 * b));
  return constant(fmt::format("fill{}", value), type, extent, std::move(bytes));
}

int32_t Builder::table(LookUpTable table) {
  for (size_t i = 0; i < program_.tables.size(); ++i)
    if (program_.tables[i].bytes == table.bytes) return static_cast<int32_t>(i);
  program_.tables.push_back(std::move(table));
  return static_cast<int32_t>(program_.tables.size()) - 1;
}

Operation Builder::start(OperationKind kind, const Operand& ifm, const Operand& ofm) {
  Operation operation;
  operation.kind = kind;
  if (node_ != nullptr) operation.node = node_->name;
  operation.ifm = ifm;
  operation.ofm = ofm;
  const Clamp range = range_of(type_of(ofm));
  operation.clamp_low = range.low;
  operation.clamp_high = range.high;
  return operation;
}

void Builder::emit(Operation operation) {
  program_.operations.push_back(std::move(operation));
}

void Builder::copy(const Operand& from, const Operand& to, std::optional<int32_t> fill) {
  Operation pool = start(OperationKind::AveragePool, from, to);
  pool.ifm.zero_point = pool.ofm.zero_point = 0;
  pool.global_scale = ChannelScale{.multiplier = 1};
  if (fill) pool.clamp_low = pool.clamp_high = *fill;
  emit(std::move(pool));
}

void Builder::may_replace(const Operand& out, const std::vector<Operand>& read) {
  for (const Operand& one : read)
    if (one.tensor != out.tensor)
      program_.tensors.at(static_cast<size_t>(out.tensor)).may_replace.push_back(one.tensor);
}

void Builder::look_up(const Operand& from, const Operand& to, std::string name,
                      std::vector<uint8_t> bytes) {
  Operation pool = start(OperationKind::AveragePool, from, to);
  pool.ifm.zero_point = pool.ofm.zero_point = 0;
  pool.global_scale = ChannelScale{.multiplier = 1};
  pool.activation = Activation::Lut;
  pool.lut = table({std::move(name), std::move(bytes)});
  emit(std::move(pool));
}

int64_t Builder::in_band(int64_t rows, int64_t fewer) {
  if (fewer >= rows) return rows;
  program_.banded.insert(node_->name);
  return options_.narrow.count(node_->name) != 0 ? fewer : rows;
}

namespace {

// What smaller bands have to save at least, since they take time: a twentieth.
constexpr double kLessForBands = 0.95;

Program legalised(const graph::Module& module, const graph::Function& function,
                  const LegaliseOptions& options) {
  Program program = Builder(module, function, options).run();
  fuse(program);
  if (!options.confirmed_only) {
    multiply_short_activations(program, options.micro_block);
    join_neighbours(program);
  }
  drop_unused(program);
  keep_pieces_apart(program);
  if (!options.confirmed_only) choose_order(program, options.may_make_parts_early);
  return program;
}

// Again with smaller bands where these are what takes most memory.
void narrow_bands(Program& program, const graph::Module& module, const graph::Function& function,
                  LegaliseOptions options) {
  Fullest fullest = fullest_of(program);
  if (fullest.banded.empty()) return;
  options.narrow = std::move(fullest.banded);
  Program narrow = legalised(module, function, options);
  const auto least = static_cast<double>(fullest_of(narrow).bytes);
  if (least < kLessForBands * static_cast<double>(fullest.bytes)) program = std::move(narrow);
}

}  // namespace

Program legalise(const graph::Module& module, const graph::Function& function,
                 const LegaliseOptions& options) {
  Program program = legalised(module, function, options);
  if (options.confirmed_only) return program;
  if (options.may_narrow && !program.banded.empty())
    narrow_bands(program, module, function, options);
  interleave_chains(program);
  return program;
}

}  // namespace intarsia::targets::ethos_u
