// Written files, damaged: whoever reads and runs one ends with a message or with results, whatever is in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"
#include "intarsia/engine.h"
#include "recorded_data.h"
#include "tflite_writer/offload.h"

namespace intarsia::tflite_writer {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& tag) : tag_(tag) {
    add_builtin_targets(registry_);
    add_builtin_engine(engine_);
  }

  std::vector<uint8_t> offloaded(const std::vector<uint8_t>& model) const {
    const auto made = offload(model, "model.tflite", registry_, spec(), {});
    EXPECT_TRUE(made.ok()) << made.error().to_string();
    return made.ok() ? made->file : std::vector<uint8_t>();
  }

  // As `intarsia run` does: the results, or the message. Zeros go in.
  Result<std::vector<Engine::Bytes>> run(const std::vector<uint8_t>& file) const {
    CompileOptions options;
    options.memory.pools = {{"ram", 0}};
    options.memory.open = true;
    INTARSIA_TRY(const CompiledModel model,
                 compile(file, "model.tflite", registry_, spec(), options));
    INTARSIA_TRY(Engine engine, Engine::make(model, engine_));
    std::vector<Engine::Bytes> zeros;
    std::vector<std::span<const uint8_t>> inputs;
    for (const TensorInfo& input : engine.inputs())
      zeros.emplace_back(static_cast<size_t>(input.bytes));
    for (const Engine::Bytes& input : zeros) inputs.emplace_back(input);
    return engine.run(inputs);
  }

 private:
  TargetSpec spec() const { return parse_target(registry_.catalogue(), tag_).value(); }

  std::string tag_;
  TargetRegistry registry_;
  EngineRegistry engine_;
};

class Random {
 public:
  size_t below(size_t end) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state_ >> 33) % end;
  }

 private:
  uint64_t state_ = 7;
};

struct Counts {
  int same = 0, other = 0, refused = 0;
};

Counts run_damaged(const Reader& reader, const std::vector<uint8_t>& good, int times,
                   const std::function<void(std::vector<uint8_t>&, Random&)>& damage) {
  const auto expected = reader.run(good);
  EXPECT_TRUE(expected.ok()) << expected.error().to_string();
  Counts counts;
  Random random;
  for (int i = 0; i < times; ++i) {
    std::vector<uint8_t> bad = good;
    damage(bad, random);
    const auto outcome = reader.run(bad);
    if (!outcome.ok()) {
      ++counts.refused;
      const auto& items = outcome.error().items();
      EXPECT_FALSE(items.empty() || items.front().what.empty());
    } else {
      ++(*outcome == *expected ? counts.same : counts.other);
    }
  }
  return counts;
}

// Where the payload of the first stream begins, and its bytes.
std::span<uint8_t> payload_of(std::vector<uint8_t>& file) {
  const std::string_view magic = "COP1";
  const auto at = std::search(file.begin(), file.end(), magic.begin(), magic.end());
  EXPECT_NE(at, file.end());
  uint32_t size = 0;  // the vector's, before its bytes
  for (int i = 0; i < 4; ++i) size |= uint32_t{*(at - 4 + i)} << (8 * i);
  return std::span(file).subspan(static_cast<size_t>(at - file.begin()), size);
}

const char* const kTags[] = {"ethos-u55-128", "ethos-u65-256"};

TEST(WrittenFile, WithAnyByteDamagedIsRefusedOrRuns) {
  for (const char* tag : kTags) {
    const Reader reader(tag);
    const std::vector<uint8_t> good = reader.offloaded(
        test::read_bytes(test::golden_folder() / "models/separable_s8/model.tflite"));
    const Counts counts =
        run_damaged(reader, good, 2000, [](std::vector<uint8_t>& bad, Random& random) {
          for (size_t left = 1 + random.below(3); left > 0; --left)
            bad[random.below(bad.size())] ^= static_cast<uint8_t>(1 + random.below(255));
        });
    std::printf("%s: %d the same, %d other results, %d refused\n", tag, counts.same, counts.other,
                counts.refused);
    EXPECT_GT(counts.other, 100);  // weights may be anything
    EXPECT_GT(counts.refused, 100);
  }
}

// The stream alone: a word of the payload is another one, or a register that it sets.
TEST(WrittenFile, WithADamagedStreamIsRefusedOrRuns) {
  for (const char* tag : kTags) {
    const Reader reader(tag);
    const std::vector<uint8_t> good = reader.offloaded(
        test::read_bytes(test::golden_folder() / "models/separable_s8/model.tflite"));
    const Counts counts =
        run_damaged(reader, good, 3000, [](std::vector<uint8_t>& bad, Random& random) {
          const std::span<uint8_t> payload = payload_of(bad);
          for (size_t left = 1 + random.below(2); left > 0; --left)
            payload[random.below(payload.size())] ^= static_cast<uint8_t>(1u << random.below(8));
        });
    std::printf("%s: %d the same, %d other results, %d refused\n", tag, counts.same, counts.other,
                counts.refused);
    EXPECT_GT(counts.refused, 1000);
  }
}

// A payload that is shorter than its own words say, at every length.
TEST(WrittenFile, WithAStreamCutShortIsRefused) {
  for (const char* tag : kTags) {
    const Reader reader(tag);
    std::vector<uint8_t> good = reader.offloaded(
        test::read_bytes(test::golden_folder() / "models/autoencoder_s8/model.tflite"));
    const size_t size = payload_of(good).size();
    for (size_t length = 0; length < size; length += 4) {
      std::vector<uint8_t> bad = good;
      const std::span<uint8_t> payload = payload_of(bad);
      for (size_t i = 0; i < 4; ++i)
        *(payload.data() - 4 + i) = static_cast<uint8_t>(length >> (8 * i));
      EXPECT_FALSE(reader.run(bad).ok()) << length << " of " << size << " bytes";
    }
  }
}

}  // namespace
}  // namespace intarsia::tflite_writer
