// A recurrent layer makes its sequence step by step, and as a rule the last step alone is read behind it: of the others each is
// needed for the next one only. The same holds for whatever is put together in parts and taken apart at the same places.
#include "legalise/pieces.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "hardware/hardware.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {
namespace {

// Rows and columns of a tensor, which it has all channels of; and the operations that see some of them.
struct Piece {
  int32_t top = 0, left = 0, bottom = 0, right = 0;  // the ends are no longer part of it
  size_t first = 0, last = 0;

  bool meets(const Piece& other) const {
    return top < other.bottom && other.top < bottom && left < other.right && other.left < right;
  }
  void take_in(const Piece& other) {
    top = std::min(top, other.top);
    left = std::min(left, other.left);
    bottom = std::max(bottom, other.bottom);
    right = std::max(right, other.right);
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
  Extent extent(int32_t depth) const { return {bottom - top, right - left, depth}; }
};

template <typename Visit>
void for_each_operand(Operation& op, const Visit& visit) {
  visit(op.ifm);
  if (op.ifm2) visit(*op.ifm2);
  visit(op.ofm);
}

class Pieces {
 public:
  explicit Pieces(Program& program)
      : program_(program), whole_(program.tensors.size(), false), seen_(program.tensors.size()) {
    for (size_t id = 0; id < program.tensors.size(); ++id) {
      const NpuTensor& tensor = program.tensors[id];
      if (tensor.kind != NpuTensor::Kind::Inner || tensor.is_kept || tensor.alias_of >= 0 ||
          !tensor.may_replace.empty())
        whole_[id] = true;
      if (tensor.alias_of >= 0) whole_[static_cast<size_t>(tensor.alias_of)] = true;
      for (const int32_t other : tensor.may_replace) whole_[static_cast<size_t>(other)] = true;
    }
    for (size_t i = 0; i < program.operations.size(); ++i)
      for_each_operand(program.operations[i], [&](const Operand& operand) { see(operand, i); });
  }

  void run() {
    const size_t count = program_.tensors.size();
    std::vector<std::vector<int32_t>> made(count);  // by tensor: those of its pieces
    for (size_t id = 0; id < count; ++id)
      if (!whole_[id] && !seen_[id].empty() && takes_less(id)) made[id] = split(id);
    for (Operation& op : program_.operations)
      for_each_operand(op, [&](Operand& operand) {
        const auto id = static_cast<size_t>(operand.tensor);
        if (id < count && !made[id].empty()) move(operand, seen_[id], made[id]);
      });
  }

 private:
  static Piece piece_of(const Operand& operand, size_t operation) {
    const auto end = [](int32_t origin, int32_t step, int32_t extent) {
      return origin + step * (extent - 1) + 1;
    };
    return {operand.origin.height,
            operand.origin.width,
            end(operand.origin.height, operand.step.height, operand.extent.height),
            end(operand.origin.width, operand.step.width, operand.extent.width),
            operation,
            operation};
  }

  void see(const Operand& operand, size_t operation) {
    const auto id = static_cast<size_t>(operand.tensor);
    if (whole_[id]) return;
    const NpuTensor& tensor = program_.tensors[id];
    Piece piece = piece_of(operand, operation);
    const bool has_all_channels = operand.origin.depth == 0 && operand.step.depth == 1 &&
                                  operand.extent.depth == tensor.extent.depth;
    const bool is_whole = piece.extent(tensor.extent.depth) == tensor.extent;
    if (operand.walk || !has_all_channels || is_whole) {
      whole_[id] = true;
      return;
    }
    std::vector<Piece>& pieces = seen_[id];
    // What it meets becomes part of it, which may then meet more.
    for (size_t i = 0; i < pieces.size();) {
      if (!pieces[i].meets(piece)) {
        ++i;
        continue;
      }
      piece.take_in(pieces[i]);
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    }
    pieces.push_back(piece);
  }

  static int64_t bytes_of(const Extent& extent, DataType type) {
    return round_up(extent.elements() * bits(type) / 8, kStreamAlignment);
  }

  bool takes_less(size_t id) const {
    const NpuTensor& tensor = program_.tensors[id];
    std::vector<std::pair<size_t, int64_t>> changes;  // of what is needed, by operation
    for (const Piece& piece : seen_[id]) {
      const int64_t bytes = bytes_of(piece.extent(tensor.extent.depth), tensor.type);
      changes.emplace_back(piece.first, bytes);
      changes.emplace_back(piece.last + 1, -bytes);
    }
    std::ranges::sort(changes);
    int64_t now = 0, most = 0;
    for (const auto& [operation, bytes] : changes) most = std::max(most, now += bytes);
    return most < bytes_of(tensor.extent, tensor.type);
  }

  // The first piece keeps the tensor's name and number.
  std::vector<int32_t> split(size_t id) {
    const NpuTensor whole = program_.tensors[id];
    std::vector<int32_t> made;
    for (const Piece& piece : seen_[id]) {
      NpuTensor part = whole;
      part.extent = piece.extent(whole.extent.depth);
      if (made.empty()) {
        made.push_back(static_cast<int32_t>(id));
        program_.tensors[id] = std::move(part);
        continue;
      }
      made.push_back(static_cast<int32_t>(program_.tensors.size()));
      program_.tensors.push_back(std::move(part));
    }
    return made;
  }

  static void move(Operand& operand, const std::vector<Piece>& pieces,
                   const std::vector<int32_t>& made) {
    const Piece own = piece_of(operand, 0);
    const auto piece = std::ranges::find_if(pieces, [&](const Piece& p) { return p.meets(own); });
    operand.tensor = made[static_cast<size_t>(piece - pieces.begin())];
    operand.origin.height -= piece->top;
    operand.origin.width -= piece->left;
  }

  Program& program_;
  std::vector<bool> whole_;               // by tensor: it stays as it is
  std::vector<std::vector<Piece>> seen_;  // by tensor; none meets another one
};

}  // namespace

void keep_pieces_apart(Program& program) {
  Pieces(program).run();
}

}  // namespace intarsia::targets::ethos_u
