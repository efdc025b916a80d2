// An .onnx file, parsed: a protocol buffer whose structure holds together. What its operators and tensors
// mean is not looked at yet.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "intarsia/result.h"
#include "onnx_format/onnx_format.pb.h"

namespace intarsia::onnx {

// Beginnings that a serialised ONNX model has: its version comes first, and is a small number.
bool looks_like_onnx(std::span<const uint8_t> bytes);

class ModelFile {
 public:
  // `file` serves messages, and its folder is where data outside of the model lie.
  static Result<ModelFile> open(std::span<const uint8_t> bytes, const std::string& file);

  const format::Model& model() const { return *model_; }
  const format::Graph& graph() const { return model_->graph(); }
  const std::string& name() const { return name_; }
  std::filesystem::path folder() const { return std::filesystem::path(name_).parent_path(); }
  // Version of the operators of a domain that the model is written in; 0 when it does not say.
  int64_t operator_set(const std::string& domain) const;

 private:
  std::shared_ptr<const format::Model> model_;
  std::string name_;
};

}  // namespace intarsia::onnx
