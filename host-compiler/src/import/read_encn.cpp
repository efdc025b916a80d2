#include "import/read_encn.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace intarsia::encn {
namespace {

constexpr std::string_view kIdentifier = "ENCN";
constexpr uint32_t kMajorVersion = 2;
constexpr int64_t kAlignment = 64;  // of every buffer
constexpr std::string_view kHint = "compile the network again with Arm's Ethos-N driver stack";

struct Buffer {
  uint32_t bytes = 0;
  uint32_t offset = 0;
};

// Reads until the file ends early; what comes after that is zero.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint32_t word() {
    if (!take(4)) return 0;
    const uint8_t* at = bytes_.data() + at_ - 4;
    return at[0] | static_cast<uint32_t>(at[1]) << 8 | static_cast<uint32_t>(at[2]) << 16 |
           static_cast<uint32_t>(at[3]) << 24;
  }
  void skip_array() { take(word()); }
  std::vector<Buffer> buffers() {
    std::vector<Buffer> found;
    const uint32_t count = word();
    for (uint32_t i = 0; i < count && !cut_; ++i) {
      Buffer buffer;
      word();  // its number
      buffer.offset = word();
      buffer.bytes = word();
      skip_array();  // its name
      found.push_back(buffer);
    }
    return found;
  }
  bool is_cut() const { return cut_; }
  size_t left() const { return bytes_.size() - at_; }

 private:
  bool take(size_t count) {
    if (cut_ || count > left()) return cut_ = true, false;
    at_ += count;
    return true;
  }

  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  bool cut_ = false;
};

int64_t aligned(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

bool has_encn_identifier(std::span<const uint8_t> bytes) {
  return bytes.size() >= kIdentifier.size() &&
         std::equal(kIdentifier.begin(), kIdentifier.end(), bytes.begin());
}

Result<graph::Module> read_encn(std::span<const uint8_t> bytes, const std::string& file,
                                const std::string& module_name) {
  Reader reader(bytes.subspan(kIdentifier.size()));
  const uint32_t major = reader.word();
  reader.word(), reader.word();  // minor, patch
  if (!reader.is_cut() && major != kMajorVersion)
    return Diagnostics(
        file,
        fmt::format("is a compiled Ethos-N network of version {}, not {}", major, kMajorVersion),
        std::string(kHint));
  reader.skip_array(), reader.skip_array();  // constants of the DMA and of the control unit
  const std::vector<Buffer> inputs = reader.buffers(), outputs = reader.buffers();
  reader.buffers(), reader.buffers();  // in the constants
  const std::vector<Buffer> intermediates = reader.buffers();
  if (reader.is_cut())
    return Diagnostics(
        file, fmt::format("is a compiled Ethos-N network cut short, at {} bytes", bytes.size()),
        std::string(kHint));
  if (reader.left() != 0)
    return Diagnostics(
        file,
        fmt::format("has {} bytes behind the end of its compiled Ethos-N network", reader.left()),
        std::string(kHint));
  if (outputs.empty()) return Diagnostics(file, "is a compiled Ethos-N network without outputs");

  graph::Module module;
  module.name = module_name;
  module.entry = "main";
  module.constants.push_back({"network", std::vector<uint8_t>(bytes.begin(), bytes.end())});
  graph::Function function;
  function.name = module.entry;
  graph::Node node;
  node.kind = graph::OpKind::Compiled;
  node.name = "network";
  graph::CompiledAttrs attributes;
  attributes.device = "ethos-n";
  function.tensors.push_back({.name = "network",
                              .type = DataType::UInt8,
                              .shape = {static_cast<int64_t>(bytes.size())},
                              .constant = ConstantId{0}});
  node.inputs = {graph::TensorId{0}, graph::TensorId{}};
  // The arena: all that is not constant, one behind the other.
  const auto add = [&](const Buffer& buffer, std::string name, std::vector<int64_t>& offsets) {
    const graph::TensorId id{static_cast<int32_t>(function.tensors.size())};
    function.tensors.push_back(
        {.name = std::move(name), .type = DataType::UInt8, .shape = {buffer.bytes}});
    offsets.push_back(attributes.arena_bytes);
    attributes.arena_bytes += aligned(buffer.bytes);
    return id;
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    function.inputs.push_back(add(inputs[i], fmt::format("input{}", i), attributes.input_offsets));
    node.inputs.push_back(function.inputs.back());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    function.outputs.push_back(
        add(outputs[i], fmt::format("output{}", i), attributes.output_offsets));
    node.outputs.push_back(function.outputs.back());
  }
  int64_t intermediate_bytes = 0;
  for (const Buffer& buffer : intermediates)
    intermediate_bytes = std::max(intermediate_bytes, int64_t{buffer.offset} + buffer.bytes);
  attributes.arena_bytes += aligned(intermediate_bytes);
  node.attributes = std::move(attributes);
  function.nodes.push_back(std::move(node));
  module.functions.push_back(std::move(function));
  return module;
}

}  // namespace intarsia::encn
