// The first subgraph of a .tflite file as a graph of tensors and operators, whatever they compute: which of them the importer knows does not matter here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "import/tflite/tflite_operators.h"

namespace intarsia::tflite_writer {

class Original {
 public:
  // `programs` must outlive it.
  static Result<Original> open(std::span<const uint8_t> bytes, const std::string& name,
                               std::span<const ProgramOperator> programs);

  const tflite::ModelFile& file() const { return *file_; }
  std::span<const uint8_t> file_bytes() const {  // what the file's tables lie in
    return {reinterpret_cast<const uint8_t*>(copy_.data()), size_};
  }
  const std::vector<tflite::OperatorInfo>& operators() const { return operators_; }
  const tflite::OperatorInfo& op(int32_t index) const {
    return operators_[static_cast<size_t>(index)];
  }
  std::span<const int32_t> inputs() const;
  std::span<const int32_t> outputs() const;
  int32_t tensor_count() const { return static_cast<int32_t>(tensors_->count()); }
  std::string label(int32_t tensor) const { return tensors_->label(tensor); }
  std::string name(int32_t tensor) const;

  bool is_variable(int32_t tensor) const { return tensors_->is_variable(tensor); }
  bool is_constant(int32_t tensor) const { return tensors_->has_data(tensor); }
  // -1: none.
  int32_t producer(int32_t tensor) const { return producers_[static_cast<size_t>(tensor)]; }
  const std::vector<int32_t>& readers(int32_t tensor) const {
    return readers_[static_cast<size_t>(tensor)];
  }
  bool is_output(int32_t tensor) const;
  // It has a value that operators hand on: no constant, no variable, no handle to one.
  bool is_value(int32_t tensor) const;
  // Bytes of a value; nothing where the file does not say how many.
  std::optional<int64_t> bytes(int32_t tensor) const;
  // All that an operator refers to, its intermediates too.
  std::vector<int32_t> tensors_of(int32_t op) const;

 private:
  Original() = default;
  const tflite::format::Subgraph& subgraph() const { return *file_->model().subgraphs()->Get(0); }

  std::vector<uint64_t> copy_;  // aligned, so that the file's tables are in it and in no copy of it
  size_t size_ = 0;
  std::unique_ptr<tflite::ModelFile> file_;
  std::unique_ptr<Diagnostics> problems_;  // of tensors, which nobody asks for here
  std::unique_ptr<tflite::TensorTable> tensors_;
  std::vector<tflite::OperatorInfo> operators_;
  std::vector<int32_t> producers_;
  std::vector<std::vector<int32_t>> readers_;
};

}  // namespace intarsia::tflite_writer
