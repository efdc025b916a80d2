#include "legalise/fuse.h"

#include <algorithm>
#include <map>

#include "legalise/wide.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

// Passes every element on, but for its clamp and table.
bool passes_on(const Operation& op) {
  const Kernel unit;
  const Kernel& k = op.kernel;
  const Pads& p = op.pads;
  return op.kind == OperationKind::AveragePool && k.height == unit.height &&
         k.width == unit.width && k.stride_y == 1 && k.stride_x == 1 &&
         p.top + p.left + p.bottom + p.right == 0 && op.upscale == Upscale::None &&
         op.global_scale && op.global_scale->multiplier == 1 && op.global_scale->shift == 0 &&
         op.global_scale->bias == 0 && op.ifm.zero_point == 0 && op.ofm.zero_point == 0;
}

class Fusion {
 public:
  explicit Fusion(Program& program) : program_(program) {
    for (const Operation& op : program.operations) {
      ++readers_[root(op.ifm)];
      if (op.ifm2) ++readers_[root(*op.ifm2)];
      ++writers_[root(op.ofm)];
    }
  }

  void run() {
    std::vector<Operation> kept;
    for (Operation& op : program_.operations) {
      Operation* producer = producer_to_join(op, kept);
      if (producer == nullptr) {
        kept.push_back(std::move(op));
        continue;
      }
      const int32_t zero_point = producer->ofm.zero_point;
      producer->ofm = op.ofm;
      producer->ofm.zero_point = zero_point;
      producer->clamp_low = std::max(producer->clamp_low, op.clamp_low);
      producer->clamp_high = std::min(producer->clamp_high, op.clamp_high);
      producer->activation = op.activation;
      producer->lut = op.lut;
    }
    program_.operations = std::move(kept);
  }

 private:
  const NpuTensor& tensor(const Operand& operand) const {
    return program_.tensors[static_cast<size_t>(operand.tensor)];
  }
  int32_t root(const Operand& operand) const { return program_.root_of(operand.tensor); }
  bool is_whole(const Operand& operand) const {
    const NpuTensor& t = tensor(operand);
    return t.kind == NpuTensor::Kind::Inner && t.alias_of < 0 && !operand.walk &&
           operand.extent == t.extent && operand.origin == Extent{0, 0, 0} &&
           operand.step == Extent{};
  }

  Operation* producer_to_join(const Operation& op, std::vector<Operation>& earlier) {
    if (!passes_on(op) || !is_whole(op.ifm)) return nullptr;
    if (readers_[op.ifm.tensor] != 1 || writers_[op.ifm.tensor] != 1) return nullptr;
    const auto made = std::find_if(earlier.begin(), earlier.end(), [&](const Operation& e) {
      return e.ofm.tensor == op.ifm.tensor;
    });
    if (made == earlier.end() || !is_whole(made->ofm) || made->activation != Activation::None)
      return nullptr;
    const DataType type = tensor(op.ifm).type;
    if (type != tensor(op.ofm).type) return nullptr;
    // Whoever reads what an earlier run has left may stand between the two.
    if (tensor(op.ofm).is_kept) return nullptr;
    // The units for tanh and sigmoid take more than the 16 bits that the producer's result is clamped to.
    if (op.activation == Activation::Tanh || op.activation == Activation::Sigmoid) return nullptr;
    // A table is looked up with the unclamped result.
    const Clamp range = range_of(type);
    const bool clamped = made->clamp_low != range.low || made->clamp_high != range.high;
    if (op.activation != Activation::None && clamped) return nullptr;
    return &*made;
  }

  Program& program_;
  std::map<int32_t, int> readers_, writers_;  // by tensor, its aliases included
};

}  // namespace

void fuse(Program& program) {
  Fusion(program).run();
}

void multiply_short_activations(Program& program, const Extent& micro_block) {
  if (micro_block.height * micro_block.width == 1) return;
  for (Operation& op : program.operations) {
    const DataType type = program.tensors[static_cast<size_t>(op.ifm.tensor)].type;
    if (op.kind != OperationKind::AveragePool || !is_pointwise(op) || !op.global_scale ||
        op.global_scale->bias != 0 || op.activation == Activation::None ||
        op.ofm.extent.elements() >= kLeastBandElements || bits(type) > 16)
      continue;
    op.kind = OperationKind::Mul;
    op.ifm2_scalar = 1;
    op.ifm2_type = type;
  }
}

void drop_unused(Program& program) {
  std::vector<bool> used(program.tensors.size(), false);
  const auto use = [&](const Operand& operand) {
    const auto id = static_cast<size_t>(operand.tensor);
    used[id] = true;
    if (const int32_t root = program.tensors[id].alias_of; root >= 0)
      used[static_cast<size_t>(root)] = true;
  };
  for (const Operation& op : program.operations) {
    use(op.ifm), use(op.ofm);
    if (op.ifm2) use(*op.ifm2);
  }
  std::vector<int32_t> place(program.tensors.size(), -1);
  std::vector<NpuTensor> kept;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    if (!used[i] && program.tensors[i].parameter < 0) continue;
    place[i] = static_cast<int32_t>(kept.size());
    kept.push_back(std::move(program.tensors[i]));
  }
  const auto move = [&](int32_t& index) { index = place[static_cast<size_t>(index)]; };
  for (NpuTensor& t : kept) {
    if (t.alias_of >= 0) move(t.alias_of);
    for (int32_t& other : t.may_replace) move(other);
    std::erase(t.may_replace, -1);
  }
  for (Operation& op : program.operations) {
    move(op.ifm.tensor), move(op.ofm.tensor);
    if (op.ifm2) move(op.ifm2->tensor);
  }
  program.tensors = std::move(kept);
}

}  // namespace intarsia::targets::ethos_u
