#include "import/onnx/model_file.h"

#include <fmt/format.h>

#include <limits>

#include "import/onnx/inline_functions.h"

namespace intarsia::onnx {

namespace {

// Sets of the standard operators whose meaning the readers know.
constexpr int64_t kLeastOperatorSet = 1, kMostOperatorSet = 28;

}  // namespace

bool looks_like_onnx(std::span<const uint8_t> bytes) {
  return bytes.size() > 2 && bytes[0] == 0x08 && bytes[1] >= 1 && bytes[1] < 0x40;
}

int64_t ModelFile::operator_set(const std::string& domain) const {
  const auto standard = [](const std::string& text) { return text.empty() || text == "ai.onnx"; };
  for (const format::OperatorSet& set : model_->operator_set())
    if (set.domain() == domain || (standard(domain) && standard(set.domain())))
      return set.version();
  return 0;
}

Result<ModelFile> ModelFile::open(std::span<const uint8_t> bytes, const std::string& file) {
  ModelFile result;
  result.name_ = file;
  const auto model = std::make_shared<format::Model>();
  const bool fits = bytes.size() <= static_cast<size_t>(std::numeric_limits<int>::max());
  if (!fits || !model->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Diagnostics(file, "is not a whole ONNX model: its protocol buffer does not parse",
                       "the file is cut off or damaged; export or fetch it again");
  result.model_ = model;
  if (!model->has_graph() || model->operator_set().empty())
    return Diagnostics(file,
                       fmt::format("is a protocol buffer, but no ONNX model: it has no {}",
                                   model->has_graph() ? "operator set" : "graph"),
                       "give a .tflite model or an .onnx one");
  if (model->graph().sparse_size() != 0)
    return Diagnostics(file, fmt::format("holds {} sparse tensors", model->graph().sparse_size()),
                       "export the weights as dense ones");
  const int64_t set = result.operator_set("");
  if (set != 0 && (set < kLeastOperatorSet || set > kMostOperatorSet))
    return Diagnostics(file,
                       fmt::format("is written in operator set {}; {} to {} are understood", set,
                                   kLeastOperatorSet, kMostOperatorSet),
                       "convert it with onnx.version_converter, or export for operator set 17");
  INTARSIA_TRY_VOID(inline_functions(*model, file));
  return result;
}

}  // namespace intarsia::onnx
