// The device behind the APB registers: holds them, runs a stream when it is started, and reports in
// STATUS what came of it. Knows the tables of isa/ and nothing of the compiler or the driver.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "intarsia/contract/register_bus.h"
#include "intarsia/targets/ethos_u/cycle_model.h"
#include "intarsia/targets/ethos_u/injected_faults.h"
#include "intarsia/targets/ethos_u/memory.h"
#include "intarsia/targets/ethos_u/run.h"

namespace intarsia::simulators::ethos_u {

// What lies behind the device's AXI ports, and for whom it answers.
struct Reach {
  // Of the stream and of each region: bit 0 for AXI0, bit 1 for AXI1, where its memory is reached over both 3.
  uint8_t stream = 3;
  std::array<uint8_t, kRegions> regions = {3, 3, 3, 3, 3, 3, 3, 3};
  // What PROT has to be for memory to answer; nothing: any.
  std::optional<uint32_t> protection;
};

// Memory that answers on the device's bus.
struct Window {
  uint64_t first = 0, bytes = 0;
  bool writable = true;
};

class Device {
 public:
  // Base pointers are addresses in this program, all of which the device can reach. A region whose
  // base pointer is null does not answer.
  explicit Device(const Configuration& configuration);
  // Only these windows answer: any access outside of the one in which a base pointer lies is a bus
  // error.
  Device(const Configuration& configuration, std::vector<Window> windows);

  uint32_t read(uint32_t offset);
  void write(uint32_t offset, uint32_t value);
  // The two above as functions; the device must outlive them.
  intarsia_register_bus bus();

  // How many reads of STATUS see the device running after it was started, or under reset.
  void set_busy_reads(uint32_t reads) { busy_reads_ = reads; }
  // How many reads of STATUS see what it said before a start.
  void set_start_delay(uint32_t reads) { start_delay_ = reads; }
  // Without a clock nothing starts, and no reset ends.
  void set_clock_stopped(bool stopped) { clock_stopped_ = stopped; }
  // Whether registers are written from the non-secure state, which cannot make the device secure.
  void set_non_secure(bool non_secure) { non_secure_ = non_secure; }
  // All registers are as after power came.
  void lose_power();
  void set_injected_faults(InjectedFaults faults) { injected_ = std::move(faults); }
  // Which memory each port reaches; everything where nobody says.
  void set_reach(const Reach& reach) { reach_ = reach; }
  // Sees every run from now on; must outlive the device.
  void set_observer(Observer* observer) { observer_ = observer; }
  // Makes what watches a run of a stream; without one the performance monitor's counters stand still.
  using MakeCycleModel =
      std::function<std::unique_ptr<CycleModel>(const Configuration&, std::span<const uint8_t>)>;
  void set_cycle_model(MakeCycleModel make) { make_cycle_model_ = std::move(make); }
  // Called with the fault of a run that failed.
  void set_fault_handler(std::function<void(const Fault&)> handler) {
    fault_handler_ = std::move(handler);
  }
  // What the last run failed with.
  const std::optional<Fault>& last_fault() const { return last_fault_; }

 private:
  static constexpr uint32_t kBytes = 0x1000;
  // Beyond the hardware's registers, a word for each region: how many bytes answer from its base on, 0 for as many as
  // there are. For who knows the sizes and has the bus alone; taken back by the next reset.
  static constexpr uint32_t kRegionBytes = kBytes;

  uint32_t& at(uint32_t offset) { return registers_[offset / 4]; }
  uint32_t at(uint32_t offset) const { return registers_[offset / 4]; }
  uint64_t pair(uint32_t low) { return at(low) | uint64_t{at(low + 4)} << 32; }
  Region region_at(uint64_t base) const;
  std::optional<Fault> unreachable() const;
  void reset();
  void command(uint32_t value);
  void start();
  void finish(const Outcome& outcome);
  void fail(Fault fault);
  // Whether the run is one of those that fail on purpose.
  bool fails_on_purpose();
  void monitor(uint32_t offset, uint32_t value);
  void count(const CycleModel& model);

  const Configuration& configuration_;
  Memory memory_;
  std::vector<Window> windows_;
  bool restricted_ = false;
  Reach reach_;
  std::array<uint32_t, kBytes / 4> registers_ = {};
  std::array<uint32_t, kRegions> region_bytes_ = {};
  uint32_t busy_reads_ = 1, busy_left_ = 0, busy_status_ = 0;
  uint32_t start_delay_ = 0, stale_left_ = 0, stale_status_ = 0;
  bool clock_stopped_ = false, non_secure_ = false;
  InjectedFaults injected_;
  uint32_t runs_ = 0;
  bool loses_power_ = false;  // as soon as it was seen running
  Observer* observer_ = nullptr;
  MakeCycleModel make_cycle_model_;
  std::function<void(const Fault&)> fault_handler_;
  std::optional<Fault> last_fault_;
};

}  // namespace intarsia::simulators::ethos_u
