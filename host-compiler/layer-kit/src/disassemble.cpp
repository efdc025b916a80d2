#include <fmt/format.h>

#include "intarsia/layers/layer_target.h"
#include "stream_words.h"

namespace intarsia::layers {
namespace {

constexpr std::string_view kOperandNames[] = {
#define LAYER_OPERAND(name) #name,
#include "intarsia/contract/layers.def"
};

std::vector<uint32_t> words_in(std::span<const uint8_t> stream) {
  std::vector<uint32_t> words(stream.size() / 4);
  for (size_t i = 0; i < words.size(); ++i)
    for (size_t byte = 0; byte < 4; ++byte)
      words[i] |= static_cast<uint32_t>(stream[4 * i + byte]) << 8 * byte;
  return words;
}

Diagnostics malformed(const std::string& what) {
  return Diagnostics("stream of layers", what, "compile the model again");
}

// The layer at `words`, of which there are enough.
std::string layer_text(const uint32_t* words) {
  Layer layer;
  size_t next = 0;
#define LAYER_FIELD(name) layer.name = static_cast<int32_t>(words[next++]);
#include "intarsia/contract/layers.def"
  std::string places;
  for (size_t i = 0; i < kOperands; ++i) {
    const uint32_t* place = words + kFieldWords + 3 * i;
    if (place[0] == LAYERS_ABSENT) continue;
    layer.operands |= 1u << i;
    places += fmt::format("\n      {} {}+{:#x}, {} bytes", kOperandNames[i], place[0], place[1],
                          place[2]);
  }
  return describe(layer) + places;
}

}  // namespace

std::optional<Result<std::string>> disassemble(const Library& library,
                                               std::span<const uint8_t> stream) {
  const std::vector<uint32_t> words = words_in(stream);
  if (words.size() < kHeaderWords || words[0] != LAYERS_MAGIC ||
      words[2] != library_word(library.name))
    return std::nullopt;
  if (words[1] != LAYERS_VERSION)
    return malformed(fmt::format("is of version {}, not {}", words[1], LAYERS_VERSION));
  const size_t regions = words[3], layers = words[4];
  if (regions > LAYERS_MAX_REGIONS || words.size() < kHeaderWords + regions)
    return malformed("has more regions than words");
  const size_t first = kHeaderWords + regions;
  if ((words.size() - first) / kLayerWords < layers)
    return malformed(fmt::format("ends before its {} layers do", layers));
  std::string text;
  for (size_t i = 0; i < regions; ++i)
    text += fmt::format("region {}: {} bytes\n", i, words[kHeaderWords + i]);
  for (size_t i = 0; i < layers; ++i)
    text += fmt::format("{:4}: {}\n", i, layer_text(words.data() + first + i * kLayerWords));
  return text;
}

}  // namespace intarsia::layers
