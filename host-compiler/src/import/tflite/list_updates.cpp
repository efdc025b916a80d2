#include "import/tflite/list_updates.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace intarsia::tflite {

namespace {

class Finder {
 public:
  Finder(const std::vector<OperatorInfo>& operators, TensorTable& tensors,
         std::span<const int32_t> results, std::span<const int32_t> handed)
      : tensors_(tensors), handed_(handed) {
    for (const OperatorInfo& op : operators) {
      for (const int32_t id : op.outputs) maker_[id] = &op;
      for (const int32_t id : op.inputs) ++readers_[id];
    }
    for (const int32_t id : results) ++readers_[id];
  }

  // list[: i], item, list[i + 1 :], along the first axis.
  std::optional<ListUpdate> update(const OperatorInfo& joint) {
    if (joint.code != kCONCATENATION || joint.inputs.size() != 3 || joint.outputs.size() != 1)
      return std::nullopt;
    const auto* options = joint.raw->options_as_ConcatenationOptions();
    if (options == nullptr || options->axis() != 0 ||
        options->activation() != format::Activation::None)
      return std::nullopt;
    const OperatorInfo *before = only_reader(joint.inputs[0]),
                       *behind = only_reader(joint.inputs[2]);
    if (before == nullptr || behind == nullptr || before->inputs[0] != behind->inputs[0])
      return std::nullopt;
    if (!is_filled(before->inputs[1], 0) || !is_filled(behind->inputs[2], -1)) return std::nullopt;
    const std::optional<int32_t> place = first_of(before->inputs[2], -1);
    const std::optional<int32_t> next = first_of(behind->inputs[1], 0);
    if (!place || !next || !is_next(*next, *place)) return std::nullopt;
    const ListUpdate found{before->inputs[0], joint.inputs[1], *place};
    return is_sound(found, joint) ? std::optional(found) : std::nullopt;
  }

 private:
  const OperatorInfo* maker(int32_t id) const {
    const auto found = maker_.find(id);
    return found == maker_.end() ? nullptr : found->second;
  }

  // The slice that makes `id`, when nobody else reads it.
  const OperatorInfo* only_reader(int32_t id) const {
    const OperatorInfo* op = maker(id);
    const bool is_slice = op != nullptr && op->code == kSLICE && op->inputs.size() == 3;
    return is_slice && readers_.at(id) == 1 ? op : nullptr;
  }

  std::optional<std::vector<int32_t>> numbers(int32_t id) {
    const graph::Tensor* tensor = id < 0 ? nullptr : tensors_.get(id, "read as a place in a list");
    if (tensor == nullptr || tensor->type != DataType::Int32) return std::nullopt;
    const std::span<const uint8_t> bytes = tensors_.data(id);
    if (bytes.empty()) return std::nullopt;
    std::vector<int32_t> values(bytes.size() / sizeof(int32_t));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(int32_t));
    return values;
  }

  bool is_filled(int32_t id, int32_t value) {
    const auto values = numbers(id);
    return values && std::ranges::all_of(*values, [&](int32_t v) { return v == value; });
  }

  // The number, whatever shapes of one element it has been given.
  int32_t origin(int32_t id) const {
    size_t left = maker_.size();  // of steps: a damaged file may have a circle
    for (const OperatorInfo* op = maker(id);
         op != nullptr && !op->inputs.empty() && left > 0 &&
         (op->code == kRESHAPE || op->code == kEXPAND_DIMS || op->code == kSQUEEZE);
         op = maker(id), --left)
      id = op->inputs[0];
    return id;
  }

  // The first of several numbers that are joined, where the others are `rest`.
  std::optional<int32_t> first_of(int32_t id, int32_t rest) {
    const OperatorInfo* op = maker(id);
    if (op == nullptr || (op->code != kCONCATENATION && op->code != kPACK) || op->inputs.empty())
      return std::nullopt;
    for (size_t i = 1; i < op->inputs.size(); ++i)
      if (!is_filled(op->inputs[i], rest)) return std::nullopt;
    const graph::Tensor* first = tensors_.get(op->inputs[0], "read as a place in a list");
    if (first == nullptr || first->type != DataType::Int32 || element_count(first->shape) != 1)
      return std::nullopt;
    return origin(op->inputs[0]);
  }

  bool is_next(int32_t next, int32_t place) {
    const OperatorInfo* op = maker(next);
    if (op == nullptr || op->code != kADD || op->inputs.size() != 2) return false;
    const auto adds_one = [&](size_t number, size_t one) {
      return origin(op->inputs[number]) == place && is_filled(op->inputs[one], 1);
    };
    return adds_one(0, 1) || adds_one(1, 0);
  }

  // The item is one element of the list, and the list is no other one behind it.
  bool is_sound(const ListUpdate& found, const OperatorInfo& joint) {
    const std::string reader = "read by " + joint.label();
    const graph::Tensor *list = tensors_.get(found.list, reader),
                        *item = tensors_.get(found.item, reader),
                        *after = tensors_.get(joint.outputs[0], reader);
    if (list == nullptr || item == nullptr || after == nullptr || list->shape.empty()) return false;
    Shape one = list->shape;
    one[0] = 1;
    if (item->shape != one || item->type != list->type ||
        item->quantization != list->quantization || after->quantization != list->quantization)
      return false;
    // What the converter did not know of a list that a loop carries has come with the list.
    const bool is_handed = std::ranges::find(handed_, found.list) != handed_.end();
    if (tensors_.is_dynamic(found.list) && !is_handed) return false;
    if (is_handed && tensors_.is_dynamic(joint.outputs[0]))
      tensors_.set_shape(joint.outputs[0], list->shape);
    else if (tensors_.is_dynamic(joint.outputs[0]))
      return false;
    return tensors_.get(joint.outputs[0], reader)->shape == list->shape;
  }

  TensorTable& tensors_;
  std::span<const int32_t> handed_;
  std::map<int32_t, const OperatorInfo*> maker_;
  std::map<int32_t, int> readers_;
};

}  // namespace

ListUpdates find_list_updates(const std::vector<OperatorInfo>& operators, TensorTable& tensors,
                              std::span<const int32_t> results, std::span<const int32_t> handed) {
  ListUpdates updates;
  Finder finder(operators, tensors, results, handed);
  for (const OperatorInfo& op : operators) {
    const std::optional<ListUpdate> update = finder.update(op);
    if (!update) continue;
    updates.by_joint[op.index] = *update;
    for (const OperatorInfo& part : operators)
      if (part.outputs.size() == 1 &&
          (part.outputs[0] == op.inputs[0] || part.outputs[0] == op.inputs[2]))
        updates.parts.insert(part.index);
  }
  return updates;
}

}  // namespace intarsia::tflite
