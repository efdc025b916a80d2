// Tensors that the file holds: types, shapes and values.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/model_file.h"
#include "intarsia/graph/data_type.h"

namespace intarsia::onnx {

// A dense tensor whose values are known: little-endian bytes.
struct Values {
  DataType type = DataType::Float32;
  Shape shape;
  std::vector<uint8_t> bytes;
};

// The type of the IR, or none where there is no such type.
std::optional<DataType> data_type(int32_t element);
// Whether values of this type are read as f32, which they are not in the file.
bool is_computed_as_single(int32_t element);
std::string element_name(int32_t element);  // "float16", "element type 99"

// Null with the reason in `problem`. Data in another file are read from `folder`, and from nowhere else.
std::optional<Values> read_values(const format::Tensor& tensor, const std::filesystem::path& folder,
                                  std::string& problem);

// As 64-bit integers or as floats, whatever the type; a bool is 0 or 1.
std::vector<int64_t> as_integers(const Values& values);
std::vector<float> as_reals(const Values& values);
Values integer_values(DataType type, Shape shape, const std::vector<int64_t>& numbers);
Values real_values(Shape shape, const std::vector<float>& numbers);

}  // namespace intarsia::onnx
