// A .tflite file whose structure is proved: every table, vector and string that our schema names
// lies inside the bytes, so that the accessors may be used without further checks. What the numbers
// in it mean (indices, shapes, scales) is not looked at here.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import_format/tflite_generated.h"
#include "intarsia/plugin/foreign_formats.h"
#include "intarsia/result.h"

namespace intarsia::tflite {

class ModelFile {
 public:
  ModelFile(ModelFile&&) = default;  // not copied: bytes_ may point into aligned_
  ModelFile& operator=(ModelFile&&) = default;

  // `bytes` must outlive the file, `programs` as well: the custom operators that are known. `name` is for messages.
  static Result<ModelFile> open(std::span<const uint8_t> bytes, const std::string& name,
                                std::span<const ProgramOperator> programs = {});

  const format::Model& model() const { return *format::GetModel(bytes_.data()); }
  const std::string& name() const { return name_; }
  // Null for another custom operator.
  const ProgramOperator* program_operator(std::string_view custom_code) const;
  size_t buffer_count() const { return model().buffers() ? model().buffers()->size() : 0; }

  // The contents of a buffer that exists; nothing when it points outside the file.
  std::optional<std::span<const uint8_t>> buffer(uint32_t index) const;

 private:
  ModelFile() = default;

  std::string name_;
  std::vector<uint64_t>
      aligned_;  // a copy, when the caller's bytes are not aligned for FlatBuffers
  std::span<const uint8_t> bytes_;
  std::span<const ProgramOperator> programs_;
};

// True for bytes that claim to be a .tflite file.
bool has_tflite_identifier(std::span<const uint8_t> bytes);

// A vector of the file; empty when the field is absent. The verifier aligns vectors to their
// length, which is 4 bytes, so those of wider elements are copied.
template <typename T>
auto values(const flatbuffers::Vector<T>* vector) {
  const size_t count = vector == nullptr ? 0 : vector->size();
  if constexpr (sizeof(T) <= sizeof(flatbuffers::uoffset_t)) {
    return count == 0 ? std::span<const T>() : std::span<const T>(vector->data(), count);
  } else {
    std::vector<T> copy(count);
    if (count > 0) std::memcpy(copy.data(), vector->Data(), count * sizeof(T));
    return copy;
  }
}

inline std::string_view text(const flatbuffers::String* string) {
  return string == nullptr ? std::string_view() : std::string_view(string->c_str(), string->size());
}

}  // namespace intarsia::tflite
