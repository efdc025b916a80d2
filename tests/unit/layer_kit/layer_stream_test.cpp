// The reader of drivers: it opens what is whole, and nothing whose bytes end early or whose operands lie outside.
#include <gtest/gtest.h>

#include <vector>

#include "intarsia/core/layer_stream.h"

namespace intarsia::rt {
namespace {

constexpr uint32_t kSome = 0x656D6F73;

// One layer of a source and a result, each of 16 bytes, in a region of 32.
std::vector<uint32_t> one_layer() {
  std::vector<uint32_t> words = {LAYERS_MAGIC, LAYERS_VERSION, kSome, 1, 1, 32};
  words.resize(words.size() + kLayerFieldWords);
  words.insert(words.end(), {0, 0, 16});  // source
  constexpr uint32_t kOperands = sizeof(LayerPlaces) / sizeof(LayerPlace);
  for (uint32_t i = 0; i < kOperands - 2; ++i) words.insert(words.end(), {LAYERS_ABSENT, 0, 0});
  words.insert(words.end(), {0, 16, 16});  // result
  return words;
}

bool opens(const std::vector<uint32_t>& words, uint32_t bases = 1, size_t bytes = SIZE_MAX) {
  const auto* begin = reinterpret_cast<const uint8_t*>(words.data());
  const size_t all = 4 * words.size();
  const intarsia_stream stream = {begin, static_cast<uint32_t>(std::min(bytes, all)), nullptr, 0,
                                  nullptr};
  LayerStream layers;
  return layers.open(stream, kSome, bases);
}

TEST(LayerStream, OpensWhatIsWhole) {
  const std::vector<uint32_t> words = one_layer();
  EXPECT_TRUE(opens(words));
  EXPECT_FALSE(opens(words, 0));
  for (size_t bytes = 0; bytes < 4 * words.size(); ++bytes) EXPECT_FALSE(opens(words, 1, bytes));
}

TEST(LayerStream, RefusesOperandsOutsideOfTheirRegion) {
  const size_t result = one_layer().size() - 3;
  const auto with = [&](size_t word, uint32_t value) {
    std::vector<uint32_t> words = one_layer();
    words[word] = value;
    return words;
  };
  EXPECT_FALSE(opens(with(result, 1)));              // no such region
  EXPECT_FALSE(opens(with(result, LAYERS_ABSENT)));  // every layer has a result
  EXPECT_FALSE(opens(with(result + 1, 17)));         // ends one byte behind it
  EXPECT_FALSE(opens(with(result + 1, 0xFFFFFFFF)));
  EXPECT_FALSE(opens(with(result + 2, 17)));
  EXPECT_FALSE(opens(with(result + 2, 0xFFFFFFFF)));
  EXPECT_FALSE(opens(with(5, 31)));  // of fewer bytes
  EXPECT_TRUE(opens(with(5, 33)));
}

TEST(LayerStream, RefusesAnotherFormatVersionOrLibrary) {
  for (size_t word = 0; word < 3; ++word) {
    std::vector<uint32_t> words = one_layer();
    words[word] += 1;
    EXPECT_FALSE(opens(words)) << word;
  }
  std::vector<uint32_t> words = one_layer();
  words[4] = 0x40000000;  // so many layers that their bytes overflow 32 bits
  EXPECT_FALSE(opens(words));
}

}  // namespace
}  // namespace intarsia::rt
