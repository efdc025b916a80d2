// Alike operations of neighbouring channels, each too short to be worth beginning, become one. Gates of a recurrent layer, say, read
// parts of one product, and what each of them does to its part first is the same.
#include "legalise/beside.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "legalise/wide.h"

namespace intarsia::targets::ethos_u {
namespace {

bool same_scale(const ChannelScale& a, const ChannelScale& b) {
  return a.bias == b.bias && a.multiplier == b.multiplier && a.shift == b.shift;
}

bool same_scale(const std::optional<ChannelScale>& a, const std::optional<ChannelScale>& b) {
  return a.has_value() == b.has_value() && (!a || same_scale(*a, *b));
}

bool same_plane(const Extent& a, const Extent& b) {
  return a.height == b.height && a.width == b.width;
}

// Whether the two do the same but for where, and to how many channels.
bool are_alike(const Operation& a, const Operation& b) {
  return a.kind == b.kind && a.ifm.zero_point == b.ifm.zero_point &&
         a.ofm.zero_point == b.ofm.zero_point && same_plane(a.ifm.extent, b.ifm.extent) &&
         same_plane(a.ofm.extent, b.ofm.extent) && a.ifm2.has_value() == b.ifm2.has_value() &&
         a.ifm2_scalar == b.ifm2_scalar && a.ifm2_type == b.ifm2_type &&
         a.ifm2_zero_point == b.ifm2_zero_point && a.reverse_operands == b.reverse_operands &&
         same_scale(a.global_scale, b.global_scale) && a.operand_scaling == b.operand_scaling &&
         same_scale(a.ifm_scale, b.ifm_scale) && same_scale(a.ifm2_scale, b.ifm2_scale) &&
         a.rounding == b.rounding && a.activation == b.activation && a.lut == b.lut &&
         a.force_int8_lut_range == b.force_int8_lut_range && a.clamp_low == b.clamp_low &&
         a.clamp_high == b.clamp_high;
}

class Neighbours {
 public:
  explicit Neighbours(Program& program) : program_(program) {
    for (const NpuTensor& tensor : program.tensors) {
      if (tensor.alias_of >= 0) shared_[tensor.alias_of] = true;
      for (const int32_t other : tensor.may_replace) shared_[other] = true;
    }
    for (const Operation& op : program.operations) {
      ++writers_[op.ofm.tensor];
      if (op.ifm.walk) shared_[op.ifm.tensor] = true;
      if (op.ifm2 && op.ifm2->walk) shared_[op.ifm2->tensor] = true;
    }
  }

  void run() {
    std::vector<Operation>& all = program_.operations;
    for (size_t i = 0; i < all.size(); ++i)
      while (is_short(all[i])) {
        const std::optional<Neighbour> other = find_neighbour(i);
        if (!other) break;
        join(all[i], all[other->index], other->in_front);
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(other->index));
      }
  }

 private:
  struct Neighbour {
    size_t index = 0;
    bool in_front = false;  // of lower channels
  };

  NpuTensor& tensor(const Operand& operand) {
    return program_.tensors[static_cast<size_t>(operand.tensor)];
  }
  int32_t root(const Operand& operand) const { return program_.root_of(operand.tensor); }

  // Of one element's function, into a map that nothing else writes or lies in.
  bool is_short(const Operation& op) {
    const NpuTensor& out = tensor(op.ofm);
    const bool is_kind = is_elementwise(op.kind) || (op.kind == OperationKind::AveragePool &&
                                                     op.global_scale && is_pointwise(op));
    return is_kind && op.ofm.extent.elements() < kLeastBandElements && !op.ifm.walk &&
           !op.ofm.walk && out.kind == NpuTensor::Kind::Inner && out.alias_of < 0 && !out.is_kept &&
           !shared_[op.ofm.tensor] && writers_[op.ofm.tensor] == 1 && op.ofm.extent == out.extent;
  }

  // The same box but for channels, which begin where the other's end.
  static bool follows(const Operand& a, const Operand& b) {
    Extent next = a.origin;
    next.depth += a.extent.depth;
    return a.tensor == b.tensor && a.zero_point == b.zero_point && same_plane(a.extent, b.extent) &&
           a.step == Extent{} && b.step == Extent{} && !a.walk && !b.walk && b.origin == next;
  }
  static bool is_same(const Operand& a, const Operand& b) {
    return a.tensor == b.tensor && a.zero_point == b.zero_point && a.extent == b.extent &&
           a.origin == b.origin && a.step == b.step && a.walk == b.walk;
  }
  // One value for all channels serves both; any other operand has to go on as the first one does.
  static bool follow(const Operation& a, const Operation& b) {
    if (!follows(a.ifm, b.ifm)) return false;
    if (!a.ifm2) return true;
    const auto is_whole = [](const Operation& op) {
      return op.ifm2->extent.depth == op.ofm.extent.depth;
    };
    return is_whole(a) && is_whole(b) ? follows(*a.ifm2, *b.ifm2) : is_same(*a.ifm2, *b.ifm2);
  }

  // A later operation that can run where this one does.
  std::optional<Neighbour> find_neighbour(size_t index) {
    const std::vector<Operation>& all = program_.operations;
    const Operation& op = all[index];
    written_in_.resize(program_.tensors.size());
    ++search_;
    const auto write = [&](const Operand& operand) {
      written_in_[static_cast<size_t>(root(operand))] = search_;
    };
    const auto is_written = [&](const Operand& operand) {
      return written_in_[static_cast<size_t>(root(operand))] == search_;
    };
    write(op.ofm);
    for (size_t i = index + 1; i < all.size(); ++i) {
      const Operation& other = all[i];
      if (is_written(op.ifm) || (op.ifm2 && is_written(*op.ifm2))) return std::nullopt;
      // Neighbours read the same tensor; of most operations nothing else has to be looked at.
      if (other.ifm.tensor == op.ifm.tensor && are_alike(op, other)) {
        const bool waits = is_written(other.ifm) || (other.ifm2 && is_written(*other.ifm2));
        if (!waits && is_short(other) && tensor(op.ofm).type == tensor(other.ofm).type) {
          if (follow(op, other)) return Neighbour{i, false};
          if (follow(other, op)) return Neighbour{i, true};
        }
      }
      write(other.ofm);
    }
    return std::nullopt;
  }

  void join(Operation& op, const Operation& other, bool in_front) {
    NpuTensor both = tensor(op.ofm);
    both.extent.depth += other.ofm.extent.depth;
    both.may_replace.clear();
    const auto joint = static_cast<int32_t>(program_.tensors.size());
    program_.tensors.push_back(both);
    writers_[joint] = 1;
    const auto [first, second] = in_front ? std::pair(other.ofm.tensor, op.ofm.tensor)
                                          : std::pair(op.ofm.tensor, other.ofm.tensor);
    const int32_t behind = (in_front ? other : op).ofm.extent.depth;
    const auto widen = [&](Operand& operand, const Operand& by) {
      operand.extent.depth += by.extent.depth;
      operand.origin.depth = std::min(operand.origin.depth, by.origin.depth);
    };
    widen(op.ifm, other.ifm);
    if (op.ifm2 && !is_same(*op.ifm2, *other.ifm2)) widen(*op.ifm2, *other.ifm2);
    op.ofm.extent = both.extent;
    op.ofm.tensor = joint;
    const auto lead = [&](Operand& operand) {
      if (operand.tensor == second) operand.origin.depth += behind;
      if (operand.tensor == first || operand.tensor == second) operand.tensor = joint;
    };
    for (Operation& reader : program_.operations) {
      lead(reader.ifm);
      if (reader.ifm2) lead(*reader.ifm2);
    }
  }

  Program& program_;
  // Tensors that have to stay what they are: with aliases, in whose place another one may come, or whose memory is walked through.
  std::map<int32_t, bool> shared_;
  std::map<int32_t, int> writers_;
  std::vector<uint32_t>
      written_in_;  // by tensor: the last search that found an operation which writes it
  uint32_t search_ = 0;
};

}  // namespace

void join_neighbours(Program& program) {
  Neighbours(program).run();
}

}  // namespace intarsia::targets::ethos_u
