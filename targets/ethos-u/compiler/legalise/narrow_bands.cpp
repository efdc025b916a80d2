#include "legalise/narrow_bands.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace intarsia::targets::ethos_u {
namespace {

struct Life {
  size_t first = std::numeric_limits<size_t>::max(), last = 0;
};

std::vector<Life> lives_of(const Program& program) {
  std::vector<Life> lives(program.tensors.size());
  for (size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& op = program.operations[i];
    const auto touch = [&](const Operand& operand) {
      Life& life = lives[static_cast<size_t>(program.root_of(operand.tensor))];
      life.first = std::min(life.first, i);
      life.last = i;
    };
    touch(op.ifm), touch(op.ofm);
    if (op.ifm2) touch(*op.ifm2);
  }
  for (size_t id = 0; id < lives.size(); ++id) {
    if (lives[id].first > lives[id].last) continue;
    if (program.tensors[id].kind == NpuTensor::Kind::Input) lives[id].first = 0;
    if (program.tensors[id].kind == NpuTensor::Kind::Output)
      lives[id].last = program.operations.size() - 1;
  }
  return lives;
}

// What tensors take while each operation runs. One that comes in the place of another begins where that ends.
std::vector<int64_t> live_bytes_of(const Program& program) {
  const std::vector<Life> lives = lives_of(program);
  std::vector<int64_t> change(program.operations.size() + 1, 0);
  for (size_t id = 0; id < lives.size(); ++id) {
    const NpuTensor& tensor = program.tensors[id];
    const bool is_map = tensor.kind == NpuTensor::Kind::Inner ||
                        tensor.kind == NpuTensor::Kind::Input ||
                        tensor.kind == NpuTensor::Kind::Output;
    if (!is_map || lives[id].first > lives[id].last) continue;
    size_t first = lives[id].first;
    for (const int32_t other : tensor.may_replace) {
      const Life& of = lives[static_cast<size_t>(other)];
      if (of.first <= of.last && of.last >= first && of.last < lives[id].last) first = of.last + 1;
    }
    const int64_t bytes = tensor.extent.elements() * bits(tensor.type) / 8;
    change[first] += bytes;
    change[lives[id].last + 1] -= bytes;
  }
  int64_t now = 0;
  for (int64_t& bytes : change) bytes = now += bytes;
  change.pop_back();
  return change;
}

}  // namespace

Fullest fullest_of(const Program& program) {
  const std::vector<int64_t> live = live_bytes_of(program);
  Fullest fullest;
  int64_t others = 0;
  for (size_t i = 0; i < live.size(); ++i) {
    fullest.bytes = std::max(fullest.bytes, live[i]);
    if (program.banded.count(program.operations[i].node) == 0) others = std::max(others, live[i]);
  }
  for (size_t i = 0; i < live.size(); ++i)
    if (live[i] > others) fullest.banded.insert(program.operations[i].node);
  return fullest;
}

}  // namespace intarsia::targets::ethos_u
