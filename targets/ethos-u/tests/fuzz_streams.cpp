// Streams that are no streams: garbage, and good streams with commands changed, dropped, doubled or moved. The
// simulator, the checker, the timeline and what they write must come to an end and stay inside their memory;
// sanitizers say whether they do. Runs $INTARSIA_FUZZ_ROUNDS streams, or where that is not set as long as
// $INTARSIA_FUZZ_SECONDS says (20). Each is made from $INTARSIA_FUZZ_SEED (1) and the number of its round alone:
// $INTARSIA_FUZZ_FIRST and one round bring it back.
#include <chrono>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/checker.h"
#include "intarsia/targets/ethos_u/payload.h"
#include "intarsia/targets/ethos_u/profile.h"
#include "intarsia/targets/ethos_u/timeline.h"
#include "on_death.h"
#include "vela_file.h"

namespace intarsia::test::ethos_u {
namespace {

using namespace simulators::ethos_u;

int64_t from_environment(const char* name, int64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoll(value);
}

struct Seed {
  const Configuration* configuration;
  std::vector<uint8_t> stream, payload;
  const VelaOperator* npu;  // null: no memory of its own
};

class Fuzzer {
 public:
  Fuzzer() {
    for (const Configuration& configuration : configurations())
      seeds_.push_back({&configuration, {}, {}, nullptr});
    for (const VelaFile& file : files_)
      for (const VelaOperator& npu : file.operators) {
        Payload payload;
        if (npu.arena_bytes > 100'000 || read_payload(npu.payload, payload)) continue;
        seeds_.push_back(
            {payload.made_for, {payload.stream.begin(), payload.stream.end()}, npu.payload, &npu});
      }
  }

  size_t seeds() const { return seeds_.size(); }

  void round(uint32_t chosen, int64_t number) {
    std::seed_seq sequence{chosen, static_cast<uint32_t>(number),
                           static_cast<uint32_t>(number >> 32)};
    random_.seed(sequence);
    Seed seed = seeds_[below(seeds_.size())];
    if (below(8) == 0) {
      // The driver payload around it, which is read before anything runs.
      std::vector<uint8_t> bytes = seed.payload.empty() ? garbage() : seed.payload;
      damage(bytes);
      Payload payload;
      if (read_payload(bytes, payload)) return;
      if (payload.made_for != nullptr) seed.configuration = payload.made_for;
      seed.stream.assign(payload.stream.begin(), payload.stream.end());
    } else if (seed.stream.empty()) {
      seed.stream = garbage();
    } else {
      mutate(seed.stream);
    }
    if (below(6) == 0) seed.configuration = &configurations()[below(configurations().size())];
    execute(seed);
  }

 private:
  size_t below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }
  uint32_t word() { return static_cast<uint32_t>(random_()); }

  // Mostly commands that there are, with any parameter.
  std::vector<uint8_t> garbage() {
    std::vector<uint8_t> bytes;
    for (size_t n = below(200); n > 0; --n) {
      const CommandRow& row = command_table()[below(command_table().size())];
      append(bytes, row.code | (row.form != Form::OneWord ? 1u << 14 : 0) | parameter() << 16);
      if (row.form != Form::OneWord) append(bytes, below(3) == 0 ? word() : word() % 4096 * 16);
    }
    return bytes;
  }
  uint32_t parameter() {
    switch (below(4)) {
      case 0:
        return word() & 0xFFFF;
      case 1:
        return word() & 0xFF;
      case 2:
        return word() & 3;
      default:
        return 0;
    }
  }
  static void append(std::vector<uint8_t>& bytes, uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  void damage(std::vector<uint8_t>& bytes) {
    for (size_t n = 1 + below(4); n > 0 && !bytes.empty(); --n)
      bytes[below(bytes.size())] = static_cast<uint8_t>(word());
    if (below(4) == 0) bytes.resize(below(bytes.size() + 1));
  }

  void mutate(std::vector<uint8_t>& stream) {
    for (size_t n = 1 + below(6); n > 0 && stream.size() >= 8; --n) {
      const size_t words = stream.size() / 4;
      const auto at = stream.begin() + static_cast<std::ptrdiff_t>(4 * below(words));
      switch (below(7)) {
        case 0:
          at[below(4)] ^= static_cast<uint8_t>(1u << below(8));
          break;
        case 1:
          at[2] = static_cast<uint8_t>(word());
          break;
        case 2:
          at[2] = at[3] = 0;
          break;
        case 3:
          stream.erase(at, at + 4);
          break;
        case 4: {
          const std::vector<uint8_t> copy(at, at + 4);
          stream.insert(stream.begin() + static_cast<std::ptrdiff_t>(4 * below(words)),
                        copy.begin(), copy.end());
          break;
        }
        case 5:
          at[0] = static_cast<uint8_t>(word()), at[1] = static_cast<uint8_t>(word());
          break;
        default:
          stream.resize(4 * below(words));
          break;
      }
    }
  }

  void execute(const Seed& seed) {
    std::vector<uint8_t> constants =
        seed.npu != nullptr ? seed.npu->constants : std::vector<uint8_t>(20'000, 0x5A);
    std::vector<uint8_t> arena(seed.npu != nullptr ? seed.npu->arena_bytes : 40'000), cache(30'000);
    Memory memory(*seed.configuration);
    memory.regions[0] = {constants.data(), constants.size(), false};
    memory.regions[1] = {arena.data(), arena.size(), true};
    memory.regions[2] = {cache.data(), cache.size(), true};
    RunOptions options;
    options.max_macs = 1 << 22;
    Checker checker(*seed.configuration, seed.stream);
    checker.forget(1, arena.size());
    checker.set(1, 0, below(arena.size() + 1));
    checker.finish(run(seed.stream, *seed.configuration, memory, &checker, options));
    for (const Finding& finding : checker.findings().all())
      ASSERT_FALSE(finding.to_string().empty());

    const auto& npu = *isa::ethos_u::find_npu_timing(seed.configuration->tag);
    Timeline timeline(
        *seed.configuration,
        *isa::ethos_u::memory_system(npu, "", npu.is_u65 ? "dedicated-sram" : "shared-sram"));
    options.execute = false;
    (void)run(seed.stream, *seed.configuration, memory, &timeline, options);
    timeline.finish();
    ASSERT_GE(timeline.totals().cycles, 0);
    Trace trace;
    trace.add(1, seed.configuration->tag, timeline, {});
    ASSERT_FALSE(trace.text().empty());
    ASSERT_FALSE(profile_text(seed.configuration->tag, timeline, {}).empty());
  }

  std::mt19937_64 random_;
  std::vector<VelaFile> files_ = read_vela_files();
  std::vector<Seed> seeds_;
};

int64_t round_now = 0;

void say_round() {
  std::fprintf(stderr, "\ndied in round %lld: INTARSIA_FUZZ_FIRST=%lld INTARSIA_FUZZ_ROUNDS=1\n",
               static_cast<long long>(round_now), static_cast<long long>(round_now));
}

TEST(FuzzStreams, NothingCrashesOnGarbage) {
  using Clock = std::chrono::steady_clock;
  const auto seed = static_cast<uint32_t>(from_environment("INTARSIA_FUZZ_SEED", 1));
  const int64_t rounds = from_environment("INTARSIA_FUZZ_ROUNDS", -1);
  const int64_t first = from_environment("INTARSIA_FUZZ_FIRST", 0);
  Fuzzer fuzzer;
  ASSERT_GT(fuzzer.seeds(), configurations().size()) << "no recorded stream";
  on_death(say_round);
  const auto end =
      Clock::now() + std::chrono::seconds(from_environment("INTARSIA_FUZZ_SECONDS", 20));
  double slowest = 0;
  int64_t done = 0;
  for (; rounds >= 0 ? done < rounds : Clock::now() < end; ++done) {
    const auto begin = Clock::now();
    round_now = first + done;
    fuzzer.round(seed, round_now);
    if (HasFailure()) return say_round();
    slowest = std::max(slowest, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  std::printf("%lld streams made of %zu, the slowest took %.2f s\n", static_cast<long long>(done),
              fuzzer.seeds(), slowest);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
