#include "intarsia/import.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "import/listed_operators.h"
#include "import/onnx/fold_layout.h"
#include "import/onnx/read_onnx.h"
#include "import/tflite/read_tflite.h"
#include "import/tflite/tflite_file.h"
#include "support/model_name.h"
#include "support/shown_text.h"

namespace intarsia {

namespace {

constexpr std::string_view kGraphText = "intarsia.graph";

// What a file is that people try because it holds, or is named like, a model.
struct OtherFormat {
  size_t at;  // where in the file its mark is
  std::string_view mark, what, hint;
};
constexpr std::string_view kConvert = "convert the network to .tflite first";
constexpr std::string_view kExport =
    "give the network that it was made of, exported from PyTorch to .onnx or converted to .tflite";
constexpr std::array<OtherFormat, 17> kOtherFormats = {{
    {0, "\x89HDF", "is an HDF5 file (Keras)", kConvert},
    {0, "PK\x03\x04", "is a zip archive (Keras, PyTorch, numpy)", kConvert},
    {0, "\x1f\x8b", "is compressed with gzip", "unpack it first"},
    {0, "\x89PNG", "is a PNG picture", "give the network; pictures go to --input"},
    {0, "\x93NUMPY", "is a numpy array", "give the network; arrays go to --input"},
    {0,
     "\x7f"
     "ELF",
     "is a compiled program", "give the network"},
    {0, "version https://git-lfs", "is a Git LFS pointer", "fetch the file with git lfs pull"},
    // Flatbuffers have their identifier behind the offset of the root.
    {4, "TOSA", "is a TOSA graph, which has no scales of its tensors", kExport},
    {4, "ET12", "is a program of ExecuTorch, lowered for its runtime already", kExport},
    {4, "ORTM", "is a model in the format of ONNX Runtime",
     "give the .onnx model that it was made of"},
    {0, "ML\xefR", "is MLIR bytecode (StableHLO, TOSA)", kConvert},
    {0, "module", "is MLIR text, or a program", kConvert},
    {0, "<?xml", "is XML (OpenVINO keeps networks in it)",
     "give the .onnx or .tflite model that it was made of"},
    {0, "7767517\n", "is a network of ncnn", "give the .onnx model that it was made of"},
    {0, "GGUF", "is a file of weights (GGUF)", "give the network as .onnx or .tflite"},
    {8, "{\"__metadata__\"", "is a file of weights (safetensors)",
     "give the network as .onnx or .tflite"},
    {0, "\x80\x02", "is a Python pickle (PyTorch)", "export the network to .onnx first"},
}};

Diagnostics not_a_model(std::string_view content, const std::string& file) {
  if (content.empty()) return {file, "is empty", "give a .tflite model or an .onnx one"};
  for (const OtherFormat& format : kOtherFormats) {
    if (content.size() > format.at && content.substr(format.at).starts_with(format.mark)) {
      return {file, std::string(format.what), std::string(format.hint)};
    }
  }
  // The identifier of a package of streams, behind the root's offset or the size.
  if (content.substr(0, 12).find("INTA") != std::string_view::npos)
    return {file, "is a package that 'intarsia compile' wrote",
            "'intarsia run' takes it with the --firmware that it was made for; else give the "
            "model, or the "
            "folder that 'compile' wrote"};
  return {file, "is neither a .tflite model (no \"TFL3\" at byte 4), nor ONNX, nor graph text",
          "give a .tflite model or an .onnx one"};
}

// The first word outside comments, for text written by people.
bool begins_as_graph_text(std::string_view content) {
  constexpr std::string_view kBlank = " \t\r\n";
  for (;;) {
    const size_t start = content.find_first_not_of(kBlank);
    if (start == std::string_view::npos) return false;
    content.remove_prefix(start);
    if (!content.starts_with("//")) break;
    content.remove_prefix(std::min(content.find('\n'), content.size()));
  }
  if (!content.starts_with(kGraphText)) return false;
  content.remove_prefix(kGraphText.size());
  return content.empty() || kBlank.find(content.front()) != std::string_view::npos;
}

// The rules of the IR, for what the readers made; a violation is the file's.
Result<graph::Module> verified(Result<graph::Module> module, const std::string& file) {
  if (!module.ok()) return module;
  const Result<void> rules = graph::verify(*module);
  if (rules.ok()) return module;
  Diagnostics problems;
  for (const Diagnostic& item : rules.error().items()) {
    problems.add(item.where.empty() ? file : file + ": " + item.where, item.what, item.hint);
  }
  return problems;
}

// ONNX has no mark of its own: the name of the file tells where the beginning does not.
bool is_onnx(std::span<const uint8_t> bytes, const std::string& file) {
  return onnx::has_onnx_beginning(bytes) ||
         (std::filesystem::path(file).extension() == ".onnx" && !bytes.empty());
}

// As the readers of .tflite and .onnx take names over: from here on nobody has to ask what may be in one.
void show_names(graph::Module& module) {
  for (graph::Function& function : module.functions) {
    for (graph::Tensor& tensor : function.tensors) tensor.name = shown_text(tensor.name);
    for (graph::Node& node : function.nodes) node.name = shown_text(node.name);
  }
}

}  // namespace

Result<graph::Module> import_model(std::span<const uint8_t> bytes, const ImportOptions& options) {
  const std::string file = options.file.empty() ? "model" : options.file;
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // Of several networks of a file each has its own name, so that a program may have them all.
  const std::string stem = std::filesystem::path(file).stem().string() +
                           (options.signature.empty() ? "" : "_" + options.signature);
  const std::string name = options.name.empty() ? model_name_from_stem(stem) : options.name;
  if (!options.signature.empty() && !tflite::has_tflite_identifier(bytes))
    return Diagnostics(file, "has no signatures, which .tflite files alone have",
                       "leave --signature out");
  if (tflite::has_tflite_identifier(bytes)) {
    return verified(tflite::read_tflite(bytes, file, name, options), file);
  }
  for (const ProgramFile& format : options.foreign.files) {
    if (format.is_one(bytes)) return verified(format.read(bytes, file, name), file);
  }
  if (begins_as_graph_text(content)) {
    if (!options.shapes.empty())
      return Diagnostics(file, "is graph text, which leaves no extents open to give shapes to");
    if (!options.input_values.empty())
      return Diagnostics(file, "is graph text, whose inputs cannot become constants");
    INTARSIA_TRY(graph::Module module, graph::parse(content, file));
    if (!options.name.empty()) module.name = options.name;
    show_names(module);
    return verified(std::move(module), file);
  }
  if (is_onnx(bytes, file)) {
    INTARSIA_TRY(const graph::Module read, onnx::read_onnx(bytes, file, name, options));
    INTARSIA_TRY(const graph::Module module, verified(read, file));
    return verified(onnx::fold_layout(module), file);
  }
  return not_a_model(content, file);
}

Result<std::vector<import::ListedOperator>> import::listed_operators(std::span<const uint8_t> bytes,
                                                                     const ImportOptions& options) {
  if (tflite::has_tflite_identifier(bytes)) return tflite::listed_operators(bytes, options);
  for (const ProgramFile& format : options.foreign.files)
    if (format.is_one(bytes)) return std::vector<ListedOperator>{};
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!begins_as_graph_text(content) && is_onnx(bytes, options.file))
    return onnx::listed_operators(bytes, options.file);
  return std::vector<ListedOperator>{};
}

}  // namespace intarsia
