// Which memory lies behind which region, and over which port the driver has it read.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "end_to_end.h"
#include "intarsia/targets/ethos_u/device.h"
#include "intarsia/targets/ethos_u/driver.h"
#include "intarsia/targets/ethos_u/simulator.h"
#include "package_writer/package_writer.h"
#include "packaging/stream_package.h"

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;

constexpr uint32_t kAxi0 = 0, kAxi1 = 1;

uint32_t port_of(const intarsia_ethos_u& npu, uint32_t region) {
  return npu.region_config >> (2 * region) >> 1 & 1;
}

TEST(RegionPorts, FollowTheProductAndWhatOpened) {
  const auto opened = [](const char* tag, auto open) {
    sim::Device device(*sim::find_configuration(std::string_view(tag)));
    const intarsia_register_bus bus = device.bus();
    intarsia_ethos_u npu;
    EXPECT_EQ(open(&npu, &bus), INTARSIA_OK);
    EXPECT_EQ(npu.queue_config / 2, kAxi1);
    EXPECT_EQ(port_of(npu, 0), kAxi1) << "constants";
    EXPECT_EQ(port_of(npu, 2), kAxi0) << "fast memory";
    for (uint32_t region = 3; region < 8; ++region)
      EXPECT_EQ(port_of(npu, region), port_of(npu, 1)) << "region " << region;
    return port_of(npu, 1);
  };
  for (const char* tag : {"ethos-u55-128", "ethos-u65-256"}) {
    const bool is_u65 = std::string(tag).find("u65") != std::string::npos;
    EXPECT_EQ(opened(tag, intarsia_ethos_u_open_bus), is_u65 ? kAxi1 : kAxi0) << tag;
    EXPECT_EQ(opened(tag, intarsia_ethos_u_open_bus_shared), kAxi0) << tag;
    EXPECT_EQ(opened(tag, intarsia_ethos_u_open_bus_dedicated), kAxi1) << tag;
  }
}

// A driver payload that moves 32 bytes within region 1 of an Ethos-U65-256.
struct Transfer {
  std::vector<uint32_t> words = {0x31504F43, 0x00100001, 0x10003008,   0x10060000, 5,
                                 5,          5,          11 << 16 | 2, 0x00010130, 0x4030,
                                 0,          0x00010131, 0x4031,       64,         0x4032,
                                 32,         0x00000010, 0x00000011,   0xFFFF0000};
};

intarsia_status run_transfer(intarsia_ethos_u& npu, const intarsia_region* regions = nullptr) {
  alignas(16) static uint32_t code[32];
  alignas(16) static uint8_t data[128];
  const Transfer transfer;
  std::copy(transfer.words.begin(), transfer.words.end(), code);
  const intarsia_stream stream = {reinterpret_cast<const uint8_t*>(code),
                                  static_cast<uint32_t>(4 * transfer.words.size()), nullptr, 0,
                                  regions};
  void* bases[] = {nullptr, data};
  return npu.device.run(&npu.device, &stream, bases, 2);
}

// The simulated system refuses what goes over the wrong port, in each of its memory modes.
TEST(RegionPorts, TheWrongOneIsABusError) {
  struct Row {
    const char* mode;
    bool shared_is_right, dedicated_is_right;
  };
  for (const Row& row : {Row{"", false, true}, Row{"dedicated-sram", false, true},
                         Row{"dedicated-sram-512k", false, true}, Row{"shared-sram", true, false},
                         Row{"sram-only", true, false}}) {
    SCOPED_TRACE(row.mode);
    const intarsia_register_bus bus = intarsia_ethos_u_simulator_in("ethos-u65-256", "", row.mode);
    intarsia_ethos_u npu;
    ASSERT_EQ(intarsia_ethos_u_open_bus_shared(&npu, &bus), INTARSIA_OK);
    EXPECT_EQ(run_transfer(npu), row.shared_is_right ? INTARSIA_OK : INTARSIA_ERROR_DEVICE_BUS);
    if (!row.shared_is_right) {
      EXPECT_NE(npu.fault_status & 1u << 2, 0u) << "bus_status";
    }
    ASSERT_EQ(intarsia_ethos_u_open_bus_dedicated(&npu, &bus), INTARSIA_OK);
    EXPECT_EQ(run_transfer(npu), row.dedicated_is_right ? INTARSIA_OK : INTARSIA_ERROR_DEVICE_BUS);
    // The stream over the port that does not reach it.
    npu.region_config = row.shared_is_right ? 0x3 : 0xB;
    EXPECT_EQ(run_transfer(npu), INTARSIA_OK);
    npu.queue_config = 0;
    EXPECT_EQ(run_transfer(npu), INTARSIA_ERROR_DEVICE_BUS);
  }
}

// What the package says of a region's memory decides over what the number of the region would say.
TEST(RegionPorts, FollowTheMemoryOfThePlan) {
  const intarsia_register_bus bus =
      intarsia_ethos_u_simulator_in("ethos-u65-256", "", "dedicated-sram");
  intarsia_ethos_u npu;
  ASSERT_EQ(intarsia_ethos_u_open_bus_dedicated(&npu, &bus), INTARSIA_OK);
  const auto run_in = [&](uint8_t memory) {
    const intarsia_region regions[2] = {{}, {128, 96, memory, {}}};
    return run_transfer(npu, regions);
  };
  EXPECT_EQ(run_in(INTARSIA_MEMORY_MAIN), INTARSIA_OK);
  EXPECT_EQ(run_in(INTARSIA_MEMORY_UNKNOWN), INTARSIA_OK);
  EXPECT_EQ(run_in(INTARSIA_MEMORY_CONSTANTS), INTARSIA_OK) << "beside the arena";
  EXPECT_EQ(run_in(INTARSIA_MEMORY_FAST), INTARSIA_ERROR_DEVICE_BUS)
      << "region 1 of this system lies behind the other port";
}

// A system of one memory: both ports lead to it.
TEST(RegionPorts, EitherReachesTheOnlyMemory) {
  for (const char* mode : {"dedicated-sram", "shared-sram", "sram-only"}) {
    SCOPED_TRACE(mode);
    const intarsia_register_bus bus =
        intarsia_ethos_u_simulator_in("ethos-u65-256", "32:8/32/16/16", mode);
    intarsia_ethos_u npu;
    ASSERT_EQ(intarsia_ethos_u_open_bus_shared(&npu, &bus), INTARSIA_OK);
    EXPECT_EQ(run_transfer(npu), INTARSIA_OK);
    ASSERT_EQ(intarsia_ethos_u_open_bus_dedicated(&npu, &bus), INTARSIA_OK);
    EXPECT_EQ(run_transfer(npu), INTARSIA_OK);
    npu.queue_config = 0;
    EXPECT_EQ(run_transfer(npu), INTARSIA_OK);
  }
}

// The driver resets a device that failed, which then forgets why: the last fault is kept here.
struct KeptFault {
  explicit KeptFault(sim::Device& device) {
    device.set_fault_handler([this](const sim::Fault& fault) { what = fault.what; });
  }
  std::string what;
};

TEST(RegionPorts, TheFaultNamesRegionAndPort) {
  sim::Device device(*sim::find_configuration(std::string_view("ethos-u65-256")));
  const KeptFault last(device);
  sim::Reach reach;
  reach.regions[1] = 1 << kAxi1;
  device.set_reach(reach);
  const intarsia_register_bus bus = device.bus();
  intarsia_ethos_u npu;
  ASSERT_EQ(intarsia_ethos_u_open_bus_shared(&npu, &bus), INTARSIA_OK);
  EXPECT_EQ(run_transfer(npu), INTARSIA_ERROR_DEVICE_BUS);
  EXPECT_EQ(last.what, "region 1 goes over AXI0 (REGIONCFG) and its memory lies behind AXI1");
  reach.stream = 1 << kAxi0;
  device.set_reach(reach);
  EXPECT_EQ(run_transfer(npu), INTARSIA_ERROR_DEVICE_BUS);
  EXPECT_EQ(last.what, "the stream goes over AXI1 (QCONFIG) and its memory lies behind AXI0");
}

// Memory behind a filter: the driver asks for the privilege it is told, and again after a loss of power.
TEST(Protection, IsWhatTheDriverIsToldAndComesBack) {
  sim::Device device(*sim::find_configuration(std::string_view("ethos-u65-256")));
  const KeptFault last(device);
  sim::Reach reach;
  reach.protection = sim::bits::PROT_active_CPL;
  device.set_reach(reach);
  const intarsia_register_bus bus = device.bus();
  intarsia_ethos_u npu;
  ASSERT_EQ(intarsia_ethos_u_open_bus(&npu, &bus), INTARSIA_OK);
  EXPECT_EQ(run_transfer(npu), INTARSIA_OK);
  device.write(sim::reg::RESET, 0);  // it comes up without privilege
  EXPECT_EQ(run_transfer(npu), INTARSIA_OK);
  reach.protection = sim::bits::PROT_active_CSL;
  device.set_reach(reach);
  EXPECT_EQ(run_transfer(npu), INTARSIA_ERROR_DEVICE_BUS);
  EXPECT_EQ(last.what, "memory answers accesses with a PROT of 2 and the device makes them with 1");
  npu.protection = sim::bits::RESET_pending_CSL;
  EXPECT_EQ(run_transfer(npu), INTARSIA_OK);
}

constexpr char kModel[] = R"(intarsia.graph model
func @main(%0) -> (%2) {
  %0 "x": i8[1,8,8,16] q(0.5)
  %1 "y": i8[1,4,4,16] q(0.5)
  %2 "z": i8[1,2,2,16] q(0.5)
  max_pool2d first(%0) -> (%1) {filter_h=2, filter_w=2, stride_h=2, stride_w=2}
  max_pool2d second(%1) -> (%2) {filter_h=2, filter_w=2, stride_h=2, stride_w=2}
}
entry @main
)";

// Regions of a dedicated plan on a board with a fast and a slow memory, by name.
std::vector<std::string> regions_with(int64_t fast_bytes) {
  const TargetRegistry registry = make_registry();
  const auto target = parse_target_argument(registry.catalogue(), "ethos-u65-256");
  EXPECT_TRUE(target.ok());
  CompileOptions options;
  options.memory = {};
  options.memory.pools = {{"slow", 0, false, 4, {}, 16}, {"fast", fast_bytes, false, 1, {}, 16}};
  const std::string text = kModel;
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  const Result<CompiledModel> model = compile(bytes, "model", registry, *target, options);
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().to_string());
  if (!model.ok()) return {};
  std::vector<std::string> names;
  for (const StreamRegion& region : model->program().emitted.streams.at(0).regions)
    names.push_back(
        region.kind == StreamRegion::Kind::Constants
            ? "constants"
            : model->program().plan.memory.pools.at(static_cast<size_t>(region.pool)).name);
  return names;
}

// Region 2 is the fast memory whether there is an arena beside it or not.
TEST(Regions, OfADedicatedPlanKeepTheirNumbers) {
  EXPECT_EQ(regions_with(0), (std::vector<std::string>{"constants", "constants", "fast"}));
  EXPECT_EQ(regions_with(512), (std::vector<std::string>{"constants", "slow", "fast"}));
}

// Of the same model, what the package tells the driver.
TEST(Regions, TheirMemoriesAreInThePackage) {
  const TargetRegistry registry = make_registry();
  const auto target = parse_target_argument(registry.catalogue(), "ethos-u65-256");
  ASSERT_TRUE(target.ok());
  CompileOptions options;
  options.memory = {};
  options.memory.pools = {{"slow", 0, false, 4, {}, 16}, {"fast", 512, false, 1, {}, 16}};
  const std::string text = kModel;
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  const Result<CompiledModel> model = compile(bytes, "model", registry, *target, options);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const Result<StreamPackage> package =
      read_package(packaging::stream_package(model->program()), "model.intarsia");
  ASSERT_TRUE(package.ok()) << package.error().to_string();
  const StreamMemory& memory = package->contract.memory.at(0);
  EXPECT_EQ(memory.region_memories,
            (std::vector<uint8_t>{INTARSIA_MEMORY_CONSTANTS, INTARSIA_MEMORY_MAIN,
                                  INTARSIA_MEMORY_FAST}));
  ASSERT_EQ(memory.region_bytes.size(), 3u);
  for (size_t region = 1; region < 3; ++region) {
    const uint32_t pool = static_cast<uint32_t>(region) - 1;
    EXPECT_GT(memory.region_bytes[region], 0u);
    EXPECT_LE(memory.region_bytes[region], package->contract.pool_bytes.at(pool));
  }
  ASSERT_EQ(memory.results.size(), 1u) << "the output of the model and nothing else";
  EXPECT_EQ(memory.results[0].bytes, 64u);
}

// What the glue opens is what the streams were made for.
TEST(Regions, TheMemoryModeSaysHowTheDeviceIsOpened) {
  const TargetRegistry registry = make_registry();
  const auto opened = [&](const std::string& text) {
    const auto target = parse_target(registry.catalogue(), text);
    EXPECT_TRUE(target.ok());
    const Target& npu = target->beside_host()[0];
    const TargetKind& kind = registry.kind_of(npu);
    return kind.driver(npu).open_function + " " + kind.simulator(npu).open_bus_function;
  };
  const std::string shared = "intarsia_ethos_u_open_shared intarsia_ethos_u_open_bus_shared",
                    dedicated =
                        "intarsia_ethos_u_open_dedicated intarsia_ethos_u_open_bus_dedicated";
  EXPECT_EQ(opened("ethos-u55-128"), shared);
  EXPECT_EQ(opened("ethos-u65-256"), dedicated);
  EXPECT_EQ(opened("ethos-u65-256 -memory-mode=sram-only"), shared);
  EXPECT_EQ(opened("ethos-u65-256 -memory-mode=dedicated-sram-512k"), dedicated);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
