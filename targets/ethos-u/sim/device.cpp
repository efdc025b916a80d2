#include "intarsia/targets/ethos_u/device.h"

#include <algorithm>
#include <string>
#include <utility>

#include "intarsia/targets/ethos_u/pmu_events.h"

namespace intarsia::simulators::ethos_u {
namespace {

enum Access : uint8_t { ReadOnly, ReadWrite, WriteOnly };

struct RegisterRow {
  uint32_t offset;
  Access access;
  uint32_t reset;
};

constexpr RegisterRow kRegisters[] = {
#define REGISTER(name, offset, access, reset) {offset, access, reset},
#define REGISTER_FIELD(...)
#define PMU_EVENT(...)
#include "intarsia/targets/ethos_u/registers.def"
#undef REGISTER
#undef REGISTER_FIELD
#undef PMU_EVENT
};

constexpr uint32_t kEventCounters = 4;
constexpr uint32_t kErrors = bits::STATUS_bus_status | bits::STATUS_cmd_parse_error |
                             bits::STATUS_wd_fault | bits::STATUS_ecc_fault;

const RegisterRow* find_register(uint32_t offset) {
  for (const RegisterRow& row : kRegisters)
    if (row.offset == offset) return &row;
  return nullptr;
}

uint32_t status_bit(Cause cause) {
  switch (cause) {
    case Cause::Bus:
      return bits::STATUS_bus_status;
    case Cause::WeightDecoder:
      return bits::STATUS_wd_fault;
    case Cause::Stream:
    case Cause::Operand:
      break;
  }
  return bits::STATUS_cmd_parse_error;
}

// Passes everything on to two observers, of which either may be absent.
class Both final : public Observer {
 public:
  Both(Observer* first, Observer* second) : observers_{first, second} {}
  void command(const DecodedCommand& decoded) override {
    each([&](Observer& o) { o.command(decoded); });
  }
  void before(const Operation& op, const Memory& memory) override {
    each([&](Observer& o) { o.before(op, memory); });
  }
  void after(const Operation& op, const Memory& memory) override {
    each([&](Observer& o) { o.after(op, memory); });
  }
  void before(const DmaTransfer& dma, const Memory& memory) override {
    each([&](Observer& o) { o.before(dma, memory); });
  }
  void after(const DmaTransfer& dma, const Memory& memory) override {
    each([&](Observer& o) { o.after(dma, memory); });
  }
  void wait(const Wait& what) override {
    each([&](Observer& o) { o.wait(what); });
  }
  void pmu_mask(bool enabled) override {
    each([&](Observer& o) { o.pmu_mask(enabled); });
  }
  void stop(const DecodedCommand& decoded) override {
    each([&](Observer& o) { o.stop(decoded); });
  }

 private:
  template <typename Call>
  void each(const Call& call) {
    for (Observer* observer : observers_)
      if (observer != nullptr) call(*observer);
  }
  std::array<Observer*, 2> observers_;
};

}  // namespace

Device::Device(const Configuration& configuration)
    : configuration_(configuration), memory_(configuration) {
  reset();
}

Device::Device(const Configuration& configuration, std::vector<Window> windows)
    : configuration_(configuration),
      memory_(configuration),
      windows_(std::move(windows)),
      restricted_(true) {
  reset();
}

void Device::reset() {
  for (const RegisterRow& row : kRegisters) at(row.offset) = row.reset;
  at(reg::ID) = configuration_.id_word();
  at(reg::CONFIG) = configuration_.config_word();
  region_bytes_ = {};
  busy_left_ = stale_left_ = 0;
  last_fault_.reset();
}

void Device::lose_power() {
  reset();
  if (non_secure_) at(reg::PROT) = bits::PROT_active_CSL;
}

uint32_t Device::read(uint32_t offset) {
  const RegisterRow* row = find_register(offset);
  if (row == nullptr || row->access == WriteOnly) return 0;
  if (offset == reg::STATUS && stale_left_ > 0) {
    --stale_left_;
    return stale_status_;
  }
  if (offset == reg::STATUS && busy_left_ > 0) {
    --busy_left_;
    const uint32_t status = busy_status_;
    if (busy_left_ == 0 && std::exchange(loses_power_, false)) lose_power();
    return status;
  }
  return at(offset);
}

void Device::write(uint32_t offset, uint32_t value) {
  if (offset >= kRegionBytes && offset < kRegionBytes + 4 * kRegions)
    region_bytes_[(offset - kRegionBytes) / 4] = value;
  const RegisterRow* row = find_register(offset);
  if (row == nullptr || row->access == ReadOnly) return;
  switch (offset) {
    case reg::CMD:
      command(value);
      break;
    case reg::RESET:
      reset();
      // The device comes up in the state that was asked for.
      at(reg::PROT) = value & (bits::PROT_active_CPL | bits::PROT_active_CSL);
      if (non_secure_) at(reg::PROT) |= bits::PROT_active_CSL;
      busy_status_ = bits::STATUS_reset_status;
      busy_left_ = clock_stopped_ ? UINT32_MAX : busy_reads_;
      break;
    case reg::PMCR:
    case reg::PMCNTENSET:
    case reg::PMCNTENCLR:
    case reg::PMOVSSET:
    case reg::PMOVSCLR:
    case reg::PMINTSET:
    case reg::PMINTCLR:
      monitor(offset, value);
      break;
    default:
      at(offset) = value;
  }
}

void Device::command(uint32_t value) {
  uint32_t& status = at(reg::STATUS);
  if ((value & bits::CMD_clear_irq) != 0) status &= ~bits::STATUS_irq_raised;
  status &= ~(value & bits::CMD_clear_irq_history);  // the same upper half of both registers
  at(reg::CMD) = value & (bits::CMD_clock_q_enable | bits::CMD_power_q_enable);
  // A device that met an error needs a reset before it runs again.
  if ((value & bits::CMD_transition_to_running_state) != 0 && (status & kErrors) == 0) start();
}

// What answers from `base` on.
Region Device::region_at(uint64_t base) const {
  if (base == 0) return {};
  auto* data = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(base));
  if (!restricted_) return {data, UINT64_MAX - base};
  for (const Window& window : windows_)
    if (base >= window.first && base - window.first < window.bytes)
      return {data, window.bytes - (base - window.first), window.writable};
  return {};
}

// AXI limits 0 and 1 belong to port AXI0, 2 and 3 to AXI1. A region without a base is not looked at.
std::optional<Fault> Device::unreachable() const {
  const auto wrong = [](uint32_t limit, uint8_t ports) { return (ports >> (limit / 2) & 1) == 0; };
  const auto fault = [&](const std::string& what, uint32_t limit, const char* where) {
    const std::string port = std::to_string(limit / 2), other = std::to_string(1 - limit / 2);
    return Fault{
        Cause::Bus, 0, "",
        what + " goes over AXI" + port + " (" + where + ") and its memory lies behind AXI" + other};
  };
  if (reach_.protection && *reach_.protection != at(reg::PROT))
    return Fault{Cause::Bus, 0, "",
                 "memory answers accesses with a PROT of " + std::to_string(*reach_.protection) +
                     " and the device makes them with " + std::to_string(at(reg::PROT))};
  const uint32_t queue = at(reg::QCONFIG) & bits::QCONFIG_cmd_region0;
  if (wrong(queue, reach_.stream)) return fault("the stream", queue, "QCONFIG");
  for (uint32_t i = 0; i < kRegions; ++i) {
    const uint32_t base = reg::BASEP0_LO + 8 * i, limit = at(reg::REGIONCFG) >> (2 * i) & 3;
    if ((at(base) | at(base + 4)) != 0 && wrong(limit, reach_.regions[i]))
      return fault("region " + std::to_string(i), limit, "REGIONCFG");
  }
  return std::nullopt;
}

void Device::start() {
  if (clock_stopped_) return;
  last_fault_.reset();
  stale_status_ = at(reg::STATUS);
  stale_left_ = start_delay_;
  at(reg::STATUS) &= ~bits::STATUS_cmd_end_reached;
  at(reg::QREAD) = 0;
  busy_status_ = at(reg::STATUS) | bits::STATUS_state;
  busy_left_ = busy_reads_;

  if (fails_on_purpose()) return;
  if (std::optional<Fault> fault = unreachable()) return fail(std::move(*fault));
  for (uint32_t i = 0; i < kRegions; ++i) {
    Region& region = memory_.regions[i] = region_at(pair(reg::BASEP0_LO + 8 * i));
    if (region_bytes_[i] != 0) region.bytes = std::min<uint64_t>(region.bytes, region_bytes_[i]);
  }
  const uint64_t base = pair(reg::QBASE_LO), size = at(reg::QSIZE);
  const Region stream = region_at(base);
  if (stream.data == nullptr || stream.bytes < size)
    return fail({Cause::Bus, 0, "", "no memory answers where the stream should be"});
  if (base % kStreamAlignment != 0)
    return fail({Cause::Bus, 0, "", "the stream does not begin at a multiple of 16 bytes"});

  const std::span<const uint8_t> bytes(stream.data, size);
  const std::unique_ptr<CycleModel> model =
      make_cycle_model_ ? make_cycle_model_(configuration_, bytes) : nullptr;
  if (model != nullptr) model->limit(memory_);
  Both observers(observer_, model.get());
  Outcome outcome = run(bytes, configuration_, memory_, &observers);
  if (model != nullptr)
    if (auto fault = model->finish(outcome); fault && !outcome.fault)
      outcome.fault = std::move(fault);
  finish(outcome);
  if (model != nullptr) count(*model);
}

bool Device::fails_on_purpose() {
  const auto found = injected_.find(runs_++);
  if (found == injected_.end()) return false;
  const std::string why = "a fault that was asked for";
  switch (found->second) {
    case InjectedFault::Bus:
      fail({Cause::Bus, 0, "", why});
      break;
    case InjectedFault::Command:
      fail({Cause::Stream, 0, "", why});
      break;
    case InjectedFault::Weights:
      fail({Cause::WeightDecoder, 0, "", why});
      break;
    case InjectedFault::Power:
      loses_power_ = true;
      break;
    case InjectedFault::Stuck:
      busy_left_ = 0;
      break;
  }
  return true;
}

void Device::finish(const Outcome& outcome) {
  at(reg::QREAD) = outcome.read_bytes;
  uint32_t& status = at(reg::STATUS);
  status |= uint32_t{outcome.irq_history} << 16;
  if (outcome.stopped) status |= bits::STATUS_cmd_end_reached;
  if (outcome.interrupt) status |= bits::STATUS_irq_raised;
  if (outcome.fault) fail(*outcome.fault);
}

void Device::fail(Fault fault) {
  at(reg::STATUS) |= status_bit(fault.cause) | bits::STATUS_irq_raised;
  if (fault_handler_) fault_handler_(fault);
  last_fault_ = std::move(fault);
}

// Registers of the performance monitor that set, clear, or command.
void Device::monitor(uint32_t offset, uint32_t value) {
  const auto set_and_clear = [&](uint32_t set, uint32_t clear) {
    const uint32_t now = offset == set ? at(set) | value : at(set) & ~value;
    at(set) = at(clear) = now;
  };
  switch (offset) {
    case reg::PMCNTENSET:
    case reg::PMCNTENCLR:
      return set_and_clear(reg::PMCNTENSET, reg::PMCNTENCLR);
    case reg::PMOVSSET:
    case reg::PMOVSCLR:
      return set_and_clear(reg::PMOVSSET, reg::PMOVSCLR);
    case reg::PMINTSET:
    case reg::PMINTCLR:
      return set_and_clear(reg::PMINTSET, reg::PMINTCLR);
    default:
      break;
  }
  if ((value & bits::PMCR_cycle_cnt_rst) != 0) at(reg::PMCCNTR_LO) = at(reg::PMCCNTR_HI) = 0;
  if ((value & bits::PMCR_event_cnt_rst) != 0)
    for (uint32_t i = 0; i < kEventCounters; ++i) at(reg::PMEVCNTR0 + 4 * i) = 0;
  at(reg::PMCR) = (at(reg::PMCR) & bits::PMCR_num_event_cnt) |
                  (value & (bits::PMCR_cnt_en | bits::PMCR_mask_en));
}

void Device::count(const CycleModel& model) {
  if ((at(reg::PMCR) & bits::PMCR_cnt_en) == 0) return;
  const uint32_t enabled = at(reg::PMCNTENSET);
  if ((enabled & bits::PMCNTENSET_cycle_cnt) != 0) {
    const uint64_t total = (pair(reg::PMCCNTR_LO) + model.cycles()) & ((uint64_t{1} << 48) - 1);
    at(reg::PMCCNTR_LO) = static_cast<uint32_t>(total);
    at(reg::PMCCNTR_HI) = static_cast<uint32_t>(total >> 32);
  }
  for (uint32_t i = 0; i < kEventCounters; ++i) {
    if ((enabled >> i & 1) == 0) continue;
    const uint32_t type = at(reg::PMEVTYPER0 + 4 * i) & bits::PMEVTYPER0_ev_type;
    at(reg::PMEVCNTR0 + 4 * i) +=
        static_cast<uint32_t>(type == CYCLE ? model.cycles() : model.events(type));
  }
}

intarsia_register_bus Device::bus() {
  return {
      [](void* context, uint32_t offset) { return static_cast<Device*>(context)->read(offset); },
      [](void* context, uint32_t offset, uint32_t value) {
        static_cast<Device*>(context)->write(offset, value);
      },
      this};
}

}  // namespace intarsia::simulators::ethos_u
