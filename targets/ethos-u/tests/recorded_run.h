// Recorded outputs of Arm's compiler without the model around them: their interface, and the memory they run in.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "import_format/tflite_generated.h"
#include "intarsia/targets/ethos_u/memory.h"
#include "recorded_data.h"
#include "vela_file.h"

namespace intarsia::test::ethos_u {

// Tensors of the graph's inputs and outputs, in order; zero points of all tensors.
struct Interface {
  std::vector<int32_t> inputs, outputs;
  std::vector<int64_t> zero_points;
};

inline Interface interface_of(const std::filesystem::path& path) {
  const std::vector<uint8_t> bytes = read_bytes(path);
  const auto& graph = *tflite::format::GetModel(bytes.data())->subgraphs()->Get(0);
  Interface interface {
    {graph.inputs()->begin(), graph.inputs()->end()},
        {graph.outputs()->begin(), graph.outputs()->end()}, {}
  };
  for (const tflite::format::Tensor* tensor : *graph.tensors()) {
    const auto* quantization = tensor->quantization();
    const auto* zeros = quantization == nullptr ? nullptr : quantization->zero_point();
    interface.zero_points.push_back(zeros == nullptr || zeros->size() == 0 ? 0 : zeros->Get(0));
  }
  return interface;
}

// The memory that one operator runs in.
class Arena {
 public:
  Arena(const VelaOperator& op, size_t shram_bytes)
      : memory_(shram_bytes),
        constants_(op.constants),
        arena_(op.arena_bytes),
        cache_(op.cache_is_arena ? 0 : op.cache_bytes) {
    memory_.regions[0] = {constants_.data(), constants_.size(), false};
    memory_.regions[1] = {arena_.data(), arena_.size()};
    memory_.regions[2] = op.cache_is_arena
                             ? memory_.regions[1]
                             : simulators::ethos_u::Region{cache_.data(), cache_.size()};
  }

  bool write(const VelaTensor& place, const std::vector<uint8_t>& bytes) {
    if (bytes.size() != place.bytes || place.offset + place.bytes > arena_.size()) return false;
    std::memcpy(arena_.data() + place.offset, bytes.data(), bytes.size());
    return true;
  }
  std::vector<uint8_t> read(const VelaTensor& place) const {
    if (place.offset + place.bytes > arena_.size()) return {};
    const auto begin = arena_.begin() + static_cast<std::ptrdiff_t>(place.offset);
    return {begin, begin + static_cast<std::ptrdiff_t>(place.bytes)};
  }
  simulators::ethos_u::Memory& memory() { return memory_; }

 private:
  simulators::ethos_u::Memory memory_;
  std::vector<uint8_t> constants_, arena_, cache_;
};

// Empty when equal.
inline std::string difference(const std::vector<uint8_t>& got,
                              const std::vector<uint8_t>& expected) {
  if (got.size() != expected.size())
    return std::to_string(got.size()) + " bytes, expected " + std::to_string(expected.size());
  size_t different = 0, first = 0;
  for (size_t i = got.size(); i-- > 0;)
    if (got[i] != expected[i]) ++different, first = i;
  if (different == 0) return "";
  return std::to_string(different) + " of " + std::to_string(got.size()) +
         " bytes differ, the first at " + std::to_string(first) + ": " +
         std::to_string(got[first]) + ", expected " + std::to_string(expected[first]);
}

}  // namespace intarsia::test::ethos_u
