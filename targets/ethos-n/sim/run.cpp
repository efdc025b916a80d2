#include "intarsia/targets/ethos_n/run.h"

#include <algorithm>
#include <deque>
#include <string>

#include "intarsia/targets/ethos_n/dma.h"
#include "intarsia/targets/ethos_n/mce.h"
#include "intarsia/targets/ethos_n/ple.h"

namespace intarsia::simulators::ethos_n {
namespace {

constexpr uint32_t kNoEnables = UINT32_MAX, kEnablesForPleAlone = UINT32_MAX - 1;

class ControlUnit {
 public:
  ControlUnit(const Variant& variant, const Stream& stream, Dram& dram, const RunOptions& options)
      : variant_(variant),
        stream_(stream),
        dram_(dram),
        sram_(variant),
        mce_(variant, sram_, options.max_macs),
        ple_(variant, sram_) {}

  Outcome run() {
    while (!outcome_.fault) {
      bool progress = false;
      for (const Queue queue : {Queue::Ple, Queue::Mce, Queue::DmaWr, Queue::DmaRd})
        while (!outcome_.fault && at(queue) < commands(queue).size() && start(queue)) {
          ++at(queue);
          progress = true;
        }
      // Then the hardware: each unit completes what it began first.
      if (!outcome_.fault) progress |= complete_dma(Queue::DmaRd, reads_);
      if (!outcome_.fault) progress |= complete_dma(Queue::DmaWr, writes_);
      if (!outcome_.fault) progress |= complete_code_load();
      if (!outcome_.fault) progress |= complete_stripes();
      if (progress || outcome_.fault) continue;
      if (!is_done()) outcome_.fault = Fault{Cause::Deadlock, "", deadlock()};
      break;
    }
    return outcome_;
  }

 private:
  struct Started {
    size_t index;  // in the queue
    const CommandRecord* command;
  };
  struct MceStripe {
    size_t index;
    const CommandRecord* program;
  };
  struct PleJob {
    size_t index;
    const Kernel* kernel;
    std::array<uint32_t, 8> scratch;
    bool fused;
    bool has_input = false;
    MceOutput input;
  };

  size_t& at(Queue queue) { return at_[static_cast<size_t>(queue)]; }
  const std::vector<CommandRecord>& commands(Queue queue) const {
    return stream_.queues[static_cast<size_t>(queue)];
  }
  uint32_t& counter(Counter name) { return outcome_.counters[static_cast<size_t>(name)]; }
  const AgentRecord& agent(const CommandRecord& command) const {
    return stream_.agents[command[word::Dma_agent]];
  }

  void fail(Queue queue, size_t index, Fault fault) {
    fault.where = place_of(queue, index, commands(queue)[index]);
    outcome_.fault = std::move(fault);
  }
  // After anything that may have touched memory.
  void check_memory(Queue queue, size_t index) {
    for (std::optional<std::string>* failure : {&sram_.failure, &dram_.failure})
      if (*failure && !outcome_.fault) fail(queue, index, {Cause::Bus, "", **failure});
  }

  // False: it has to wait.
  bool start(Queue queue) {
    const size_t index = at(queue);
    const CommandRecord& command = commands(queue)[index];
    switch (command.command) {
      case Command::WaitForCounter:
        return outcome_.counters[command[word::Wait_counter]] >= command[word::Wait_value];
      case Command::LoadIfmStripe:
      case Command::LoadWgtStripe:
      case Command::LoadPleCodeIntoSram:
        if (reads_.size() == kQueueReads) return false;
        reads_.push_back({index, &command});
        return true;
      case Command::StoreOfmStripe:
        if (writes_.size() == kQueueWrites) return false;
        writes_.push_back({index, &command});
        return true;
      case Command::ProgramMceStripe:
        if (stripes_.size() == kQueueMceStripes) return false;
        programmed_ = &command;
        return true;
      case Command::ConfigMceif:
        ++counter(Counter::Mceif);
        return true;
      case Command::StartMceStripe:
        if (!set_enables(command[word::StartMce_CE_ENABLES])) return false;
        if (programmed_ == nullptr ||
            (*programmed_)[word::Program_agent] != command[word::StartMce_agent]) {
          fail(queue, index,
               {Cause::Operand, "", "no registers were programmed for this MCE stripe"});
          return false;
        }
        stripes_.push_back({index, programmed_});
        programmed_ = nullptr;
        return true;
      case Command::LoadPleCodeIntoPleSram:
        if (job_ || loading_) return false;
        return load_code(index, agent(command));
      case Command::StartPleStripe:
        if (job_ || loading_) return false;
        return start_ple(index, command);
    }
    return false;
  }

  // The enables are in no bank of registers: they change only while the MCE stands still.
  bool set_enables(uint32_t value) {
    if (enables_ == value) return true;
    if (!stripes_.empty()) return false;
    enables_ = value;
    return true;
  }

  bool load_code(size_t index, const AgentRecord& scheduler) {
    const uint32_t number = scheduler.get(agent_field::PLE_SCHEDULER_kernel);
    const uint32_t address = scheduler.get(agent_field::PLE_SCHEDULER_kernel_address);
    const Kernel* kernel = find_kernel(variant_, number);
    for (uint32_t ce = 0; ce < variant_.ces; ++ce)
      for (uint32_t i = 0; i < kKernelBytes && !outcome_.fault; ++i)
        if (sram_.read(ce, uint64_t{address} + i) != kernel_byte(number, i))
          fail(Queue::Ple, index,
               {Cause::Operand, "",
                "the code of " + std::string(kernel->text) + " is not at address " +
                    std::to_string(address) + " of SRAM, or was overwritten"});
    if (outcome_.fault) return false;
    loaded_ = kernel;
    loading_ = true;
    return true;
  }

  bool start_ple(size_t index, const CommandRecord& command) {
    const AgentRecord& scheduler = agent(command);
    const uint32_t mode = scheduler.get(agent_field::PLE_SCHEDULER_input_mode);
    const Kernel* kernel = find_kernel(variant_, scheduler.get(agent_field::PLE_SCHEDULER_kernel));
    if (kernel != loaded_ || mode > 3) {
      fail(Queue::Ple, index,
           {Cause::Operand, "",
            mode > 3 ? "there is no PLE input mode " + std::to_string(mode)
                     : "the kernel of this stripe is not the one that was loaded"});
      return false;
    }
    const bool fused = mode < 2;
    if (!fused && !set_enables(kEnablesForPleAlone)) return false;
    PleJob job{index, kernel, {}, fused, false, {}};
    std::copy_n(command.words.begin() + word::StartPle_SCRATCH, job.scratch.size(),
                job.scratch.begin());
    job_ = std::move(job);
    return true;
  }

  bool complete_dma(Queue queue, std::deque<Started>& started) {
    if (started.empty()) return false;
    const Started done = started.front();
    started.pop_front();
    auto fault = transfer(variant_, agent(*done.command), *done.command, sram_, dram_);
    if (fault) fail(queue, done.index, *std::move(fault));
    check_memory(queue, done.index);
    const auto bytes = static_cast<uint64_t>(
        field::DMA_TOTAL_BYTES_bytes.get((*done.command)[word::Dma_DMA_TOTAL_BYTES]));
    const bool is_code = done.command->command == Command::LoadPleCodeIntoSram;
    if (queue == Queue::DmaWr)
      outcome_.dma_written_bytes += bytes;
    else
      outcome_.dma_read_bytes += is_code ? 0 : bytes;
    ++counter(queue == Queue::DmaRd ? Counter::DmaRd : Counter::DmaWr);
    return true;
  }

  bool complete_code_load() {
    if (!loading_) return false;
    loading_ = false;
    ++counter(Counter::PleCodeLoadedIntoPleSram);
    return true;
  }

  // A stripe of the MCE ends when the PLE has taken what it makes; one that only accumulates ends
  // by itself.
  bool complete_stripes() {
    if (job_ && !job_->fused) {
      auto fault = ple_.run_standalone(*job_->kernel, job_->scratch);
      finish_job(std::move(fault));
      return true;
    }
    if (stripes_.empty()) return false;
    const MceStripe stripe = stripes_.front();
    const bool silent =
        field::CE_CONTROL_no_output.get((*stripe.program)[word::Program_CE_CONTROL]) != 0;
    if (!silent && !job_) return false;
    MceOutput output;
    if (auto fault = mce_.run(agent(*stripe.program), *stripe.program, output)) {
      fail(Queue::Mce, stripe.index, *std::move(fault));
      return true;
    }
    check_memory(Queue::Mce, stripe.index);
    if (outcome_.fault) return true;
    stripes_.pop_front();
    ++counter(Counter::MceStripe);
    if (!silent) feed(stripe, std::move(output));
    return true;
  }

  void feed(const MceStripe& stripe, MceOutput output) {
    if (find_kernel(variant_, agent(*stripe.program).get(agent_field::MCE_SCHEDULER_kernel)) !=
        job_->kernel)
      return fail(
          Queue::Mce, stripe.index,
          {Cause::Operand, "", "the PLE runs another kernel than the one for this MCE stripe"});
    const PleStripe ple_stripe = PleStripe::from(job_->scratch);
    const PleInputSize size = ple_.input_of(*job_->kernel, ple_stripe);
    MceOutput& input = job_->input;
    if (!job_->has_input) {
      input = std::move(output);
      job_->has_input = true;
    } else if (input.channels < size.depth && output.width == input.width &&
               output.height == input.height) {
      input.channels += output.channels;
      input.values.insert(input.values.end(), output.values.begin(), output.values.end());
    } else {
      return fail(Queue::Mce, stripe.index,
                  {Cause::Operand, "", "the MCE stripes of one PLE stripe do not fit together"});
    }
    if (input.channels < size.depth) return;
    finish_job(ple_.run_fused(*job_->kernel, ple_stripe, input));
  }

  void finish_job(std::optional<Fault> fault) {
    if (fault) fail(Queue::Ple, job_->index, *std::move(fault));
    check_memory(Queue::Ple, job_->index);
    job_.reset();
    ++counter(Counter::PleStripe);
  }

  bool is_done() {
    for (size_t q = 0; q < kQueues; ++q)
      if (at_[q] < stream_.queues[q].size()) return false;
    return stripes_.empty() && !job_;
  }

  std::string deadlock() {
    std::string text = "deadlock:";
    for (size_t q = 0; q < kQueues; ++q) {
      if (at_[q] >= stream_.queues[q].size()) continue;
      const CommandRecord& command = stream_.queues[q][at_[q]];
      text += ' ';
      text += place_of(static_cast<Queue>(q), at_[q], command);
      if (command.command == Command::WaitForCounter) {
        const auto name = static_cast<Counter>(command[word::Wait_counter]);
        text += " waits for " + std::to_string(command[word::Wait_value]) + " of " +
                std::string(name_of(name)) + ", which is " + std::to_string(counter(name));
      } else {
        text += " waits for its unit";
      }
      text += ";";
    }
    if (!stripes_.empty()) text += " an MCE stripe waits for the PLE;";
    if (job_) text += " the PLE waits for the MCE;";
    text.pop_back();
    return text;
  }

  const Variant& variant_;
  const Stream& stream_;
  Dram& dram_;
  Sram sram_;
  Mce mce_;
  Ple ple_;
  std::array<size_t, kQueues> at_ = {};
  std::deque<Started> reads_, writes_;
  std::deque<MceStripe> stripes_;
  const CommandRecord* programmed_ = nullptr;
  uint32_t enables_ = kNoEnables;
  const Kernel* loaded_ = nullptr;
  bool loading_ = false;
  std::optional<PleJob> job_;
  Outcome outcome_;
};

}  // namespace

namespace {

// Every kernel that the stream names is one of this variant's: else it was made for another.
std::optional<Fault> check_kernels(const Variant& variant, const Stream& stream) {
  for (size_t i = 0; i < stream.agents.size(); ++i) {
    const AgentRecord& agent = stream.agents[i];
    uint32_t number = 0;
    switch (agent.type) {
      case Agent::PLE_LOADER:
        number = agent.get(agent_field::PLE_LOADER_kernel);
        break;
      case Agent::PLE_SCHEDULER:
        number = agent.get(agent_field::PLE_SCHEDULER_kernel);
        break;
      case Agent::MCE_SCHEDULER:
        number = agent.get(agent_field::MCE_SCHEDULER_kernel);
        break;
      default:
        continue;
    }
    if (find_kernel(variant, number) != nullptr) continue;
    std::string what =
        "there is no PLE kernel " + std::to_string(number) + " for " + std::string(variant.tag);
    for (const Variant& other : variants())
      if (find_kernel(other, number) != nullptr) what += "; it is one of " + std::string(other.tag);
    return Fault{Cause::Operand, "agent " + std::to_string(i), what};
  }
  return std::nullopt;
}

}  // namespace

Outcome run(const Variant& variant, const Stream& stream, Dram& dram, const RunOptions& options) {
  if (auto fault = check_kernels(variant, stream)) {
    Outcome outcome;
    outcome.fault = std::move(fault);
    return outcome;
  }
  return ControlUnit(variant, stream, dram, options).run();
}

namespace {

constexpr uint64_t kMaxIntermediateBytes = uint64_t{1} << 30;

bool place(Dram& dram, const Buffer& buffer, std::vector<uint8_t>& memory, uint64_t offset,
           bool writable) {
  if (buffer.id >= kMaxBuffers || offset > memory.size() || buffer.bytes > memory.size() - offset)
    return false;
  if (buffer.id >= dram.buffers.size()) dram.buffers.resize(buffer.id + 1);
  dram.buffers[buffer.id] = {true, writable, &memory, offset, buffer.bytes};
  return true;
}

}  // namespace

Outcome run_network(const Variant& variant, std::span<const uint8_t> bytes,
                    std::span<const std::vector<uint8_t>> inputs,
                    std::vector<std::vector<uint8_t>>& outputs, const RunOptions& options) {
  Outcome outcome;
  const auto stop = [&](std::string what) {
    outcome.fault = Fault{Cause::Container, "", std::move(what)};
    return outcome;
  };
  Network network;
  Stream stream;
  if ((outcome.fault = read_network(bytes, network))) return outcome;
  if ((outcome.fault = read_stream(network.command_stream(), stream))) return outcome;
  if (inputs.size() != network.inputs.size())
    return stop("the network has " + std::to_string(network.inputs.size()) + " inputs, not " +
                std::to_string(inputs.size()));

  Dram dram;
  std::deque<std::vector<uint8_t>> memories;
  uint64_t intermediate_bytes = 0;
  for (const Buffer& buffer : network.intermediates)
    intermediate_bytes = std::max(intermediate_bytes, uint64_t{buffer.offset} + buffer.bytes);
  for (const Buffer& buffer : network.outputs)
    if (buffer.bytes > kMaxIntermediateBytes) return stop("an output is larger than a gibibyte");
  if (intermediate_bytes > kMaxIntermediateBytes)
    return stop("the intermediate buffers are larger than a gibibyte");
  bool fits = true;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].size() != network.inputs[i].bytes)
      return stop("input " + std::to_string(i) + " has " + std::to_string(network.inputs[i].bytes) +
                  " bytes, not " + std::to_string(inputs[i].size()));
    fits &= place(dram, network.inputs[i], memories.emplace_back(inputs[i]), 0, false);
  }
  const size_t first_output = memories.size();
  for (const Buffer& buffer : network.outputs)
    fits &= place(dram, buffer, memories.emplace_back(buffer.bytes), 0, true);
  for (const Buffer& buffer : network.in_dma_constants)
    fits &= place(dram, buffer, network.dma_constants, buffer.offset, false);
  std::vector<uint8_t> intermediates(intermediate_bytes);
  for (const Buffer& buffer : network.intermediates)
    fits &= place(dram, buffer, intermediates, buffer.offset, true);
  if (!fits) return stop("a buffer of the network lies outside of the memory of its kind");

  outcome = run(variant, stream, dram, options);
  outputs.assign(memories.begin() + static_cast<std::ptrdiff_t>(first_output), memories.end());
  return outcome;
}

}  // namespace intarsia::simulators::ethos_n
