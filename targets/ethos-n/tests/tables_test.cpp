// The tables of isa/ say nothing twice, leave no overlaps, and agree with the published numbers.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "intarsia/targets/ethos_n/isa.h"

namespace intarsia::test::ethos_n {
namespace {

namespace sim = simulators::ethos_n;

struct Field {
  std::string register_name, name;
  uint32_t low_bit, bits;
};

std::vector<Field> fields() {
  return {
#define FIELD(register, name, low_bit, bits, sign, adjust) {#register, #name, low_bit, bits},
#include "intarsia/targets/ethos_n/registers.def"
#undef FIELD
  };
}

TEST(RegisterTable, FieldsLieInTheWordAndDoNotOverlap) {
  std::map<std::string, uint64_t> used;
  for (const Field& field : fields()) {
    ASSERT_LE(field.low_bit + field.bits, 32u) << field.register_name << "." << field.name;
    const uint64_t mask = ((uint64_t{1} << field.bits) - 1) << field.low_bit;
    EXPECT_EQ(used[field.register_name] & mask, 0u) << field.register_name << "." << field.name;
    used[field.register_name] |= mask;
  }
}

TEST(RegisterTable, FieldsAreReadAsTheirQuantities) {
  using namespace sim::field;
  EXPECT_EQ(DMA_TOTAL_BYTES_bytes.get(0), 1);
  EXPECT_EQ(DMA_TOTAL_BYTES_bytes.get(0xFFFFFFFF), int64_t{1} << 32);
  EXPECT_EQ(SRAM_ADDR_address.get(0x7FFF), 0x7FFF0);
  EXPECT_EQ(IFM_PAD_width_delta.get(0x7C1),
            -1);  // of a stream: left 1, one column less than the OFM
  EXPECT_EQ(IFM_PAD_left.get(0x7C1), 1);
  EXPECT_EQ(ACTIVATION_CONFIG_relu_min.get(0x007FFF80), -128);
  EXPECT_EQ(ACTIVATION_CONFIG_relu_max.get(0x007FFF80), 127);
}

struct Word {
  std::string shape, name;
  uint32_t index, count;
};

TEST(StreamTable, TheWordsOfAShapeFollowEachOtherToItsEnd) {
  const std::vector<Word> words = {
#define WORD(shape, name, index, count) {#shape, #name, index, count},
#include "intarsia/targets/ethos_n/stream.def"
  };
  std::map<std::string, uint32_t> next;
  for (const Word& word : words) {
    EXPECT_EQ(word.index, std::max(next[word.shape], 1u)) << word.shape << "." << word.name;
    next[word.shape] = word.index + word.count;
  }
  const std::map<std::string, uint32_t> shapes = {
#define SHAPE(name, words) {#name, words},
#include "intarsia/targets/ethos_n/stream.def"
  };
  EXPECT_EQ(next, shapes);
}

TEST(StreamTable, CommandsHaveThePublishedSizes) {
  const std::vector<uint32_t> bytes = {12, 48, 48, 388, 8, 12, 48, 8, 40, 48};
  ASSERT_EQ(sim::command_table().size(), bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i)
    EXPECT_EQ(sim::command_table()[i].words * 4, bytes[i]) << sim::command_table()[i].name;
}

TEST(KernelTable, NumbersAreInOrderAndFourVariantsHaveThem) {
  ASSERT_EQ(sim::variants().size(), 4u);
  std::set<std::string_view> texts;
  for (const sim::Variant& variant : sim::variants())
    for (uint32_t k = 0; k < sim::kKernelsOfVariant; ++k) {
      const sim::Kernel* kernel =
          sim::find_kernel(variant, variant.number * sim::kKernelsOfVariant + k);
      ASSERT_NE(kernel, nullptr);
      EXPECT_EQ(kernel->number, k);
      texts.insert(kernel->text);
      EXPECT_EQ(sim::find_kernel(variant, (variant.number + 1) * sim::kKernelsOfVariant + k),
                nullptr);
    }
  EXPECT_EQ(texts.size(), sim::kKernelsOfVariant);
}

TEST(VariantTable, HasThePublishedSizes) {
  using Sizes = std::pair<uint32_t, uint32_t>;  // SRAM KiB; MACs a cycle: eight units an OG, each
                                                // with all IGs
  std::map<std::string_view, Sizes> sizes;
  for (const sim::Variant& v : sim::variants()) {
    EXPECT_EQ(v.all_igs(), v.srams()) << v.tag;  // what the order of weights and sub-maps rests on
    sizes[v.tag] = {v.srams() * v.emc_bytes / 1024, v.all_igs() * 8 * v.all_ogs()};
  }
  EXPECT_EQ(sizes["ethos-n78-1tops-4ple"], Sizes(448, 512));
  EXPECT_EQ(sizes["ethos-n78-4tops-2ple"], Sizes(1024, 2048));
  EXPECT_EQ(sizes["ethos-n78-4tops-4ple"], Sizes(1024, 2048));
  EXPECT_EQ(sizes["ethos-n78-8tops-2ple"], Sizes(2048, 4096));
}

}  // namespace
}  // namespace intarsia::test::ethos_n
