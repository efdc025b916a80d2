// An input or output of a model as the manifest and the report have it.
#pragma once

#include <nlohmann/json.hpp>

#include "intarsia/package.h"

namespace intarsia::packaging {

inline nlohmann::ordered_json tensor_json(const TensorInfo& tensor) {
  return {{"name", tensor.name},
          {"type", to_string(tensor.type)},
          {"shape", tensor.shape},
          {"scale", tensor.quantization.scale},
          {"zero_point", tensor.quantization.zero_point},
          {"axis", tensor.quantization.axis},
          {"bytes", tensor.bytes}};
}

inline nlohmann::ordered_json tensors_json(const std::vector<TensorInfo>& tensors) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const TensorInfo& tensor : tensors) rows.push_back(tensor_json(tensor));
  return rows;
}

}  // namespace intarsia::packaging
