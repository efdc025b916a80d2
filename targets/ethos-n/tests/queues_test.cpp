// The control unit: counters, queues, and streams that can never end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device_parts.h"
#include "intarsia/targets/ethos_n/run.h"

namespace intarsia::test::ethos_n {
namespace {

using sim::Command;
using testing::HasSubstr;

constexpr uint32_t kFirstKernel = 99;  // of 4tops-2ple
constexpr uint32_t kAddition = kFirstKernel + 1;

sim::CommandRecord wait_for(sim::Counter counter, uint32_t value) {
  return make_command(
      Command::WaitForCounter,
      {{sim::word::Wait_counter, static_cast<uint32_t>(counter)}, {sim::word::Wait_value, value}});
}
sim::CommandRecord load_code(uint32_t address) {
  return make_command(Command::LoadPleCodeIntoSram,
                      {{sim::word::Dma_agent, 0},
                       {sim::word::Dma_SRAM_ADDR, address / 16},
                       {sim::word::Dma_DMA_CMD, sim::kFormatBroadcast << 3}});
}

// Loads the code of an addition and adds two tensors of 8x8x16 of what SRAM holds: zeros.
struct Addition {
  sim::Stream stream;
  std::vector<uint8_t> memory = std::vector<uint8_t>(1024, 0xEE);

  Addition() {
    stream.agents = {
        make_agent(sim::Agent::PLE_LOADER, {{sim::agent_field::PLE_LOADER_kernel, kAddition}}),
        make_agent(sim::Agent::PLE_SCHEDULER,
                   {{sim::agent_field::PLE_SCHEDULER_input_mode, 3},
                    {sim::agent_field::PLE_SCHEDULER_kernel, kAddition},
                    {sim::agent_field::PLE_SCHEDULER_kernel_address, 0x2000}}),
        make_agent(sim::Agent::OFM_STREAMER, {{sim::agent_field::OFM_STREAMER_buffer, 0}})};
    queue(sim::Queue::DmaRd) = {load_code(0x2000)};
    // Zero points of -3: 0 + 3 + 0.
    queue(sim::Queue::Ple) = {
        wait_for(sim::Counter::DmaRd, 1), make_command(Command::LoadPleCodeIntoPleSram, {{1, 1}}),
        wait_for(sim::Counter::PleCodeLoadedIntoPleSram, 1),
        make_command(Command::StartPleStripe,
                     {{1, 1}, {2, 15}, {3, 0xFFFD0000}, {7, 0x40}, {8, 0x80008}, {9, 16}})};
    queue(sim::Queue::DmaWr) = {
        wait_for(sim::Counter::PleStripe, 1),
        make_command(Command::StoreOfmStripe, {{sim::word::Dma_agent, 2},
                                               {sim::word::Dma_SRAM_ADDR, 0x40},
                                               {sim::word::Dma_DMA_CHANNELS, 15},
                                               {sim::word::Dma_DMA_TOTAL_BYTES, 1023},
                                               {sim::word::Dma_DMA_CMD, sim::kFormatNhwcb << 3}})};
  }
  std::vector<sim::CommandRecord>& queue(sim::Queue name) {
    return stream.queues[static_cast<size_t>(name)];
  }
  std::string run(sim::Outcome* outcome = nullptr) {
    sim::Dram dram = make_dram(memory);
    const sim::Outcome done = sim::run(variant(), stream, dram);
    if (outcome != nullptr) *outcome = done;
    return done.fault ? done.fault->to_string() : "";
  }
};

TEST(Queues, RunInTheOrderOfTheCounters) {
  Addition addition;
  sim::Outcome outcome;
  ASSERT_EQ(addition.run(&outcome), "");
  EXPECT_THAT(addition.memory, testing::Each(3));
  EXPECT_THAT(outcome.counters, testing::ElementsAre(1, 1, 0, 0, 1, 1));
  EXPECT_EQ(outcome.dma_written_bytes, 1024u);
}

TEST(Queues, ACounterThatNobodyRaisesIsADeadlock) {
  Addition addition;
  addition.queue(sim::Queue::DmaWr)[0] = wait_for(sim::Counter::PleStripe, 2);
  EXPECT_EQ(
      addition.run(),
      "deadlock: command 0 of queue DmaWr, WaitForCounter waits for 2 of PleStripe, which is 1");
  EXPECT_THAT(addition.memory, testing::Each(0xEE));
}

TEST(Queues, WaitingForEachOtherIsADeadlock) {
  Addition addition;
  auto& reads = addition.queue(sim::Queue::DmaRd);
  reads.insert(reads.begin(), wait_for(sim::Counter::DmaWr, 1));
  const std::string what = addition.run();
  EXPECT_THAT(what, HasSubstr("queue DmaRd, WaitForCounter waits for 1 of DmaWr, which is 0"));
  EXPECT_THAT(what, HasSubstr("queue DmaWr, WaitForCounter waits for 1 of PleStripe, which is 0"));
  EXPECT_THAT(what, HasSubstr("queue Ple, WaitForCounter waits for 1 of DmaRd, which is 0"));
}

TEST(Queues, AFusedKernelWithoutAnMceStripeIsADeadlock) {
  Addition addition;
  addition.stream.agents[1].bytes[4] = 0;  // input from the MCE
  EXPECT_THAT(addition.run(), HasSubstr("the PLE waits for the MCE"));
}

TEST(Queues, CodeMustBeWhereItIsTakenFrom) {
  Addition elsewhere;
  elsewhere.queue(sim::Queue::DmaRd) = {load_code(0x3000)};
  EXPECT_THAT(elsewhere.run(),
              HasSubstr("the code of ADDITION_bw16_bh16_bm1_s8 is not at address 8192"));
  Addition not_loaded;
  not_loaded.queue(sim::Queue::Ple)
      .erase(not_loaded.queue(sim::Queue::Ple).begin() + 1,
             not_loaded.queue(sim::Queue::Ple).begin() + 3);
  EXPECT_THAT(not_loaded.run(), HasSubstr("is not the one that was loaded"));
}

TEST(Queues, ReadingTooEarlyShowsInTheResult) {
  Addition addition;
  addition.queue(sim::Queue::DmaWr).erase(addition.queue(sim::Queue::DmaWr).begin());
  ASSERT_EQ(addition.run(), "");
  EXPECT_THAT(addition.memory, testing::Each(0));  // what lay there before the kernel ran
}

TEST(Queues, KernelsOfAnotherVariantAreNamed) {
  Addition addition;
  addition.stream.agents[0].bytes[4] = 200;
  EXPECT_THAT(
      addition.run(),
      HasSubstr("agent 0: there is no PLE kernel 200 for ethos-n78-4tops-2ple; it is one of "
                "ethos-n78-4tops-4ple"));
}

}  // namespace
}  // namespace intarsia::test::ethos_n
