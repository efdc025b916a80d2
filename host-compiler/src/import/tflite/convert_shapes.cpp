#include "import/tflite/convert_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace intarsia::tflite {

std::optional<std::vector<uint8_t>> compute_shape(OperatorReader& in) {
  const auto refused = [&](std::string what) {
    in.problem(std::move(what));
    return std::nullopt;
  };
  std::vector<int64_t> numbers;
  Shape shape;
  if (in.op().code == kSHAPE) {
    numbers = in.input(0).shape;
    shape = {static_cast<int64_t>(numbers.size())};
  } else if (in.op().code == kRANK) {
    numbers = {static_cast<int64_t>(in.input(0).shape.size())};
  } else if (in.op().code == kBROADCAST_ARGS) {
    const auto a = in.integers(0, "its first shape"), b = in.integers(1, "its second shape");
    if (!a || !b) return std::nullopt;
    numbers.assign(std::max(a->size(), b->size()), 1);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const int64_t x = i < a->size() ? (*a)[a->size() - 1 - i] : 1,
                    y = i < b->size() ? (*b)[b->size() - 1 - i] : 1;
      if (x != y && x != 1 && y != 1)
        return refused(fmt::format("cannot broadcast [{}] and [{}] together", fmt::join(*a, ","),
                                   fmt::join(*b, ",")));
      numbers[numbers.size() - 1 - i] = x == 1 ? y : x;
    }
    shape = {static_cast<int64_t>(numbers.size())};
  } else {
    const auto first = in.integers(0, "its first number"), end = in.integers(1, "its end"),
               step = in.integers(2, "its step");
    if (!first || !end || !step) return std::nullopt;
    const bool scalars = first->size() == 1 && end->size() == 1 && step->size() == 1;
    if (!scalars || (*step)[0] == 0)
      return refused("needs a first number, an end and a step other than 0");
    constexpr size_t kMostNumbers = 1 << 16;
    for (int64_t at = (*first)[0]; (*step)[0] > 0 ? at < (*end)[0] : at > (*end)[0];
         at += (*step)[0]) {
      if (numbers.size() == kMostNumbers)
        return refused(fmt::format("makes more than {} numbers", kMostNumbers));
      numbers.push_back(at);
    }
    shape = {static_cast<int64_t>(numbers.size())};
  }
  const DataType type = in.output().type;
  if (numbers.empty() || (type != DataType::Int32 && type != DataType::Int64)) {
    return refused(numbers.empty() ? "makes an empty tensor"
                                   : "makes numbers that are neither i32 nor i64");
  }
  in.decide_shape(shape);
  if (!in.clean()) return std::nullopt;
  std::vector<uint8_t> bytes;
  for (const int64_t number : numbers)
    for (int byte = 0; byte < bits(type) / 8; ++byte)
      bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(number) >> (8 * byte)));
  return bytes;
}

}  // namespace intarsia::tflite
