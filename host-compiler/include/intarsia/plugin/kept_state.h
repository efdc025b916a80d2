// How lowered functions call the buffers of variables that they keep to themselves, so that who asks for the memory of one finds it.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "intarsia/graph.h"

namespace intarsia {

inline constexpr std::string_view kStateName = "state";

// `variable` is a tensor of the graph function that is lowered.
inline std::string state_name(graph::TensorId variable) {
  return std::string(kStateName) + std::to_string(variable.index);
}

inline std::optional<graph::TensorId> state_of_name(std::string_view name) {
  if (!name.starts_with(kStateName)) return std::nullopt;
  name.remove_prefix(kStateName.size());
  graph::TensorId id;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id.index);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return id;
}

}  // namespace intarsia
