#include "import/input_shapes.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace intarsia {

std::string shape_to_fill_in(const Shape& extents) {
  std::vector<std::string> texts;
  for (const int64_t extent : extents)
    texts.push_back(extent == -1 ? "?" : fmt::format("{}", extent));
  return fmt::format("{}", fmt::join(texts, "x"));
}

const Shape* InputShapes::find(std::string_view input) {
  const auto found = given_.find(std::string(input));
  if (found == given_.end()) return nullptr;
  used_.insert(found->first);
  return &found->second;
}

Shape InputShapes::apply(std::string_view input, const std::string& where, const Shape& extents,
                         Diagnostics& problems) {
  const Shape* given = find(input);
  if (given == nullptr) return extents;
  Shape ones = extents;
  std::replace(ones.begin(), ones.end(), int64_t{-1}, int64_t{1});
  const auto text = [](const Shape& shape) { return fmt::format("{}", fmt::join(shape, "x")); };
  if (given->size() != extents.size()) {
    problems.add(where,
                 fmt::format("has rank {}, but --shape gives it {}", extents.size(), text(*given)));
    return ones;
  }
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] == -1 || extents[axis] == (*given)[axis]) continue;
    problems.add(where,
                 fmt::format("has the extent {} along axis {}, but --shape gives it {}",
                             extents[axis], axis, text(*given)),
                 "only extents that the file leaves open can be given");
    return ones;
  }
  return *given;
}

void InputShapes::report_unused(const std::string& file, const std::vector<std::string>& inputs,
                                Diagnostics& problems) const {
  for (const auto& [name, shape] : given_)
    if (!used_.contains(name) && std::ranges::find(inputs, name) == inputs.end())
      problems.add(file, fmt::format("has no input '{}' to give a shape to", name),
                   fmt::format("its inputs are {}", fmt::join(inputs, ", ")));
}

}  // namespace intarsia
