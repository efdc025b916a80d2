// Programs whose CPU has a data cache: the NPU sees what was cleaned, and the CPU what was invalidated. Lines that are dirty are
// written back at the worst moment, right after the NPU has worked.
#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "intarsia/contract/cache.h"
#include "intarsia/targets/ethos_u/driver.h"
#include "intarsia/targets/ethos_u/simulation.h"
#include "support/files.h"
#include "whole_program.h"

namespace {

constexpr size_t kLine = 32;

// What the CPU sees, what is in memory, and what a line was when it came into the cache.
class CpuCache {
 public:
  explicit CpuCache(std::vector<std::span<uint8_t>> pools) {
    for (const std::span<uint8_t> pool : pools) {
      const std::vector<uint8_t> bytes(pool.begin(), pool.end());
      if (!bytes.empty()) blocks_.push_back({pool, bytes, bytes});
    }
  }

  void clean(const void* begin, size_t bytes) {
    for_each_line(begin, bytes,
                  [](Block& block, size_t at, size_t count) { write_back(block, at, count); });
  }
  // A dirty line is lost.
  void invalidate(const void* begin, size_t bytes) {
    for_each_line(begin, bytes, [](Block& block, size_t at, size_t count) {
      std::memcpy(block.cpu.data() + at, block.memory.data() + at, count);
      std::memcpy(block.loaded.data() + at, block.memory.data() + at, count);
    });
  }
  void evict_all() {
    for (Block& block : blocks_)
      for (size_t at = 0; at < block.cpu.size(); at += kLine)
        write_back(block, at, std::min(kLine, block.cpu.size() - at));
  }
  // Where the device finds what the CPU calls `address`; constants lie where they are.
  void* in_memory(void* address) {
    Block* block = block_of(address);
    return block == nullptr
               ? address
               : block->memory.data() + (static_cast<uint8_t*>(address) - block->cpu.data());
  }

 private:
  struct Block {
    std::span<uint8_t> cpu;
    std::vector<uint8_t> memory, loaded;
  };

  static void write_back(Block& block, size_t at, size_t count) {
    if (std::memcmp(block.cpu.data() + at, block.loaded.data() + at, count) == 0) return;
    std::memcpy(block.memory.data() + at, block.cpu.data() + at, count);
    std::memcpy(block.loaded.data() + at, block.cpu.data() + at, count);
  }
  Block* block_of(const void* address) {
    const auto found = std::ranges::find_if(blocks_, [&](const Block& block) {
      const auto* byte = static_cast<const uint8_t*>(address);
      return byte >= block.cpu.data() && byte < block.cpu.data() + block.cpu.size();
    });
    return found == blocks_.end() ? nullptr : &*found;
  }
  template <typename Call>
  void for_each_line(const void* begin, size_t bytes, const Call& call) {
    Block* block = block_of(begin);
    if (block == nullptr || bytes == 0) return;
    const auto first = static_cast<size_t>(static_cast<const uint8_t*>(begin) - block->cpu.data());
    EXPECT_LE(first + bytes, block->cpu.size()) << "a range beyond the end of its block";
    for (size_t at = first / kLine * kLine; at < first + bytes; at += kLine)
      call(*block, at, std::min(kLine, block->cpu.size() - at));
  }

  std::vector<Block> blocks_;
};

// The cache that the hooks of this program work on.
struct CacheHooks {
  CpuCache* cache = nullptr;
  bool cleans = true, invalidates = true;
  int clean_calls = 0, invalidate_calls = 0;
  int dropped_invalidate = -1;  // by its number
};
CacheHooks cache_hooks;

}  // namespace

void intarsia_cache_clean(const void* begin, uint32_t bytes) {
  if (cache_hooks.cache == nullptr) return;
  ++cache_hooks.clean_calls;
  if (cache_hooks.cleans) cache_hooks.cache->clean(begin, bytes);
}

void intarsia_cache_invalidate(void* begin, uint32_t bytes) {
  if (cache_hooks.cache == nullptr) return;
  const bool dropped = cache_hooks.invalidate_calls++ == cache_hooks.dropped_invalidate;
  if (cache_hooks.invalidates && !dropped) cache_hooks.cache->invalidate(begin, bytes);
}

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;

// Behind the cache: hands the driver the places in memory.
struct CachedDevice {
  intarsia_device device = {run};
  intarsia_device* driver = nullptr;
  CpuCache* cache = nullptr;

  static intarsia_status run(intarsia_device* device, const intarsia_stream* stream,
                             void* const* bases, uint32_t base_count) {
    auto* self = reinterpret_cast<CachedDevice*>(device);
    std::vector<void*> places;
    for (uint32_t i = 0; i < base_count; ++i) places.push_back(self->cache->in_memory(bases[i]));
    const intarsia_status status =
        self->driver->run(self->driver, stream, places.data(), base_count);
    self->cache->evict_all();
    return status;
  }
};

Result<CompiledModel> compile_with_lines(const graph::Module& module, const std::string& target,
                                         const std::map<std::string, std::string>& pins) {
  const TargetRegistry registry = make_registry();
  INTARSIA_TRY(const TargetSpec spec, parse_target_argument(registry.catalogue(), target));
  CompileOptions options;
  options.memory.pools = {{.name = "ram", .size = 0, .alignment = kLine}};
  options.memory.open = true;
  options.partition.pins = pins;
  return compile_module(module, registry, spec, options);
}

struct CacheTrial {
  std::string target = "cortex-m55+ethos-u55-128";
  bool cleans = true, invalidates = true;
  int dropped_invalidate = -1;
};

// How many of the model's runs, on one state of caches, give what the evaluator does.
struct CacheOutcome {
  int right = 0, wrong = 0, cleans = 0, invalidates = 0;
};

CacheOutcome run_with_cache(const CacheTrial& trial) {
  CacheOutcome outcome;
  const Result<graph::Module> module = import_stream(
      read_file(std::string(INTARSIA_SOURCE_DIR) + "/examples/digits/digits.tflite").value(),
      "digits.tflite");
  EXPECT_TRUE(module.ok());
  // The CPU's operators lie between the NPU's.
  const Result<CompiledModel> model = compile_with_lines(
      *module, trial.target, {{"block1_add", "c"}, {"widen", "c"}, {"average_pool", "c"}});
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().to_string());
  if (!model.ok()) return outcome;
  EXPECT_GE(model->program().emitted.streams.size(), 4u);

  sim::Simulation simulation({});
  const bool is_u65 = trial.target.find("u65") != std::string::npos;
  const auto bus = simulation.add_device(is_u65 ? "ethos-u65-256" : "ethos-u55-128", "", "");
  intarsia_ethos_u driver;
  EXPECT_EQ(intarsia_ethos_u_open_bus(&driver, &*bus), INTARSIA_OK);
  CachedDevice device;
  device.driver = &driver.device;
  Program program(*model, &device.device);
  CpuCache cache(program.memory());
  device.cache = &cache;
  cache_hooks = {&cache, trial.cleans, trial.invalidates, 0, 0, trial.dropped_invalidate};
  graph::Evaluator evaluator(*module);
  std::mt19937 random(7);
  for (int run = 0; run < 3; ++run) {
    std::vector<graph::TensorValue> inputs, outputs;
    for (const graph::TensorId id : module->entry_function().inputs) {
      inputs.emplace_back(module->entry_function().tensor(id).bytes());
      for (uint8_t& byte : inputs.back()) byte = static_cast<uint8_t>(random());
    }
    EXPECT_EQ(program.run(inputs, outputs), INTARSIA_OK) << trial.target;
    const auto expected = evaluator.run(inputs);
    EXPECT_TRUE(expected.ok());
    ++(outputs == *expected ? outcome.right : outcome.wrong);
  }
  outcome.cleans = cache_hooks.clean_calls;
  outcome.invalidates = cache_hooks.invalidate_calls;
  cache_hooks = {};
  return outcome;
}

TEST(CacheModel, ProgramsAreRightBehindACache) {
  for (const char* target : {"cortex-m55+ethos-u55-128", "cortex-m55+ethos-u65-256"}) {
    const CacheOutcome outcome = run_with_cache({.target = target});
    EXPECT_EQ(outcome.right, 3) << target;
    EXPECT_GE(outcome.cleans, 12) << target;
    EXPECT_GE(outcome.invalidates, 12) << target;
  }
}

TEST(CacheModel, MaintenanceThatIsMissingIsSeen) {
  EXPECT_EQ(run_with_cache({.cleans = false}).right, 0);
  EXPECT_EQ(run_with_cache({.invalidates = false}).right, 0);
}

// None of the calls is there for nothing.
TEST(CacheModel, EachRangeThatIsNotInvalidatedIsSeen) {
  const int calls = run_with_cache({}).invalidates / 3;
  for (int call = 0; call < calls; ++call)
    EXPECT_GE(run_with_cache({.dropped_invalidate = call}).wrong, 1) << "call " << call;
}

}  // namespace
}  // namespace intarsia::test::ethos_u
