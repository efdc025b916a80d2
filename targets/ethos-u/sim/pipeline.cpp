#include "intarsia/targets/ethos_u/pipeline.h"

#include <algorithm>
#include <utility>

namespace intarsia::simulators::ethos_u {
namespace {

using isa::ethos_u::kAssumed;

constexpr auto kBuffers = static_cast<size_t>(kAssumed.buffers);
// What is less than this is done: rounding, not time.
constexpr double kNoWork = 1e-7;

double most(const PortCycles& ports) {
  return *std::max_element(ports.begin(), ports.end());
}

}  // namespace

// Takes no less than its ports.
void Pipeline::Activity::start(double wait_first, double least, const PortCycles& ports) {
  active = true;
  wait = wait_first;
  left = std::max(least, most(ports));
  for (size_t port = 0; port < kPorts; ++port) demand[port] = left > 0 ? ports[port] / left : 0;
}

void Pipeline::issue(OperationWork work, size_t number) {
  Running& running = operations_.emplace_back();
  running.work = std::move(work);
  running.number = number;
  settle();
}

void Pipeline::transfer(const PortCycles& ports, double latency, size_t number) {
  transfers_.push_back({ports, latency, number});
  settle();
}

void Pipeline::read_commands(double latency, double cycles, const PortCycles& ports) {
  units_[Commands].start(latency, cycles, ports);
  while (units_[Commands].active && step()) {
  }
}

void Pipeline::finish_operations(size_t left) {
  while (operations_.size() > left && step()) {
  }
}

void Pipeline::finish_transfers(size_t left) {
  while (transfers_.size() > left && step()) {
  }
}

// Whether the next job of an operation may read what the operation in front writes: BLOCKDEP says how many blocks may be
// under way of both.
bool Pipeline::may_read(size_t operation, size_t job) const {
  if (operation == 0) return true;
  if (operation > 1) return false;  // the one before the one in front is not complete
  const Running& before = operations_[operation - 1];
  const size_t incomplete = before.work.blocks.size() - before.landed;
  const auto allowed = static_cast<size_t>(std::max(0, operations_[operation].work.blockdep));
  return incomplete == 0 || job + incomplete <= allowed;
}

// The next block is asked for while the one before it comes in, as soon as there is room for it and it may be read.
void Pipeline::ask_for_next() {
  if (asked_ || ifm_blocks_ >= kBuffers) return;
  for (size_t i = 0; i < operations_.size(); ++i) {
    const Running& op = operations_[i];
    const size_t job =
        op.fetched + (units_[Fetch].active && at_[Fetch] == i && op.is_set_up ? 1 : 0);
    if (job >= op.work.jobs.size()) continue;
    if (!op.is_set_up || !may_read(i, job)) return;
    asked_ = true;
    asked_at_ = now_;
    return;
  }
}

bool Pipeline::start_fetch() {
  ask_for_next();
  if (units_[Fetch].active) return false;
  for (size_t i = 0; i < operations_.size(); ++i) {
    Running& op = operations_[i];
    if (op.fetched == op.work.jobs.size()) continue;
    at_[Fetch] = i;
    if (!op.is_set_up) {
      // The registers go through the units before the first block is asked for.
      units_[Fetch].start(0, kAssumed.command_start, {});
      return true;
    }
    if (!asked_) return false;
    asked_ = false;
    units_[Fetch].start(std::max(0.0, asked_at_ + op.work.read_latency - now_), 0,
                        op.work.jobs[op.fetched].fetch);
    ++ifm_blocks_;
    return true;
  }
  return false;
}

bool Pipeline::start_decode() {
  if (units_[Decode].active || weight_jobs_ >= kBuffers) return false;
  for (size_t i = 0; i < operations_.size(); ++i) {
    Running& op = operations_[i];
    if (!op.is_set_up) return false;
    if (!op.work.has_weights || op.decoded == op.work.jobs.size()) continue;
    at_[Decode] = i;
    const JobWork& job = op.work.jobs[op.decoded];
    // The stream is contiguous: its latency shows at its beginning.
    units_[Decode].start(op.decoded == 0 ? op.work.weight_latency : 0, job.decoding, job.weights);
    ++weight_jobs_;
    return true;
  }
  return false;
}

bool Pipeline::start_mac() {
  if (units_[Mac].active) return false;
  for (size_t i = 0; i < operations_.size(); ++i) {
    Running& op = operations_[i];
    if (!op.work.accumulates || op.accumulated == op.work.jobs.size()) continue;
    if (op.fetched <= op.accumulated) return false;
    // The decoder works ahead of the array, or beside it.
    if (op.work.has_weights && op.decoded <= op.accumulated &&
        !(units_[Decode].active && at_[Decode] == i && op.decoded == op.accumulated &&
          units_[Decode].wait <= 0))
      return false;
    if (op.jobs_of_block == 0) {
      if (accumulators_ >= kBuffers) return false;
      ++accumulators_;
    }
    at_[Mac] = i;
    units_[Mac].start(0, op.work.jobs[op.accumulated].accumulation, {});
    return true;
  }
  return false;
}

bool Pipeline::start_output() {
  if (units_[Output].active || output_blocks_ >= kBuffers) return false;
  for (size_t i = 0; i < operations_.size(); ++i) {
    Running& op = operations_[i];
    if (op.output == op.work.blocks.size()) continue;
    const size_t ready = op.work.accumulates ? op.block_of_mac : op.fetched;
    if (ready <= op.output) return false;
    at_[Output] = i;
    units_[Output].start(0, op.work.blocks[op.output].output, {});
    ++op.output_begun;
    ++output_blocks_;
    return true;
  }
  return false;
}

bool Pipeline::start_write() {
  if (units_[Write].active) return false;
  for (size_t i = 0; i < operations_.size(); ++i) {
    Running& op = operations_[i];
    if (op.written == op.work.blocks.size()) continue;
    // What has been put out of a block is written while the rest is put out.
    if (op.output_begun <= op.written) return false;
    at_[Write] = i;
    units_[Write].start(0, 0, op.work.blocks[op.written].write);
    return true;
  }
  return false;
}

bool Pipeline::start_dma() {
  if (units_[Dma].active || transfers_.empty()) return false;
  const Transfer& next = transfers_.front();
  units_[Dma].start(kAssumed.command_start + next.latency, 0, next.ports);
  return true;
}

// Everything that takes no time, until nothing more can begin or end.
void Pipeline::settle() {
  bool changed = true;
  while (changed) {
    changed = start_fetch();
    changed = start_decode() || changed;
    changed = start_mac() || changed;
    changed = start_output() || changed;
    changed = start_write() || changed;
    changed = start_dma() || changed;
    for (size_t unit = 0; unit < Units; ++unit)
      if (units_[unit].active && units_[unit].wait <= 0 && units_[unit].left <= kNoWork)
        changed = complete(static_cast<Unit>(unit)) || changed;
    for (Running& op : operations_)
      while (!op.landing.empty() && op.landing.front() <= now_ + kNoWork) {
        op.landing.pop_front();
        ++op.landed;
        changed = true;
      }
    retire();
  }
}

// What a unit has worked on is done. The MAC array keeps what it has until the weights are through, and the writer
// until the block has been put out.
bool Pipeline::complete(Unit unit) {
  Activity& activity = units_[unit];
  if (unit == Commands) {
    activity.active = false;
    return true;
  }
  if (unit == Dma) {
    activity.active = false;
    const size_t number = transfers_.front().number;
    transfers_.pop_front();
    ended_(number);
    return true;
  }
  Running& op = operations_[at_[unit]];
  switch (unit) {
    case Fetch:
      activity.active = false;
      if (!op.is_set_up)
        op.is_set_up = true;
      else
        ++op.fetched;
      break;
    case Decode:
      activity.active = false;
      ++op.decoded;
      break;
    case Mac:
      if (op.work.has_weights && op.decoded <= op.accumulated) return false;
      activity.active = false;
      ++op.accumulated;
      --ifm_blocks_;
      if (op.work.has_weights) --weight_jobs_;
      if (++op.jobs_of_block == op.work.blocks[op.block_of_mac].jobs) {
        op.jobs_of_block = 0;
        ++op.block_of_mac;
      }
      break;
    case Output:
      activity.active = false;
      ++op.output;
      if (op.work.accumulates)
        --accumulators_;
      else
        --ifm_blocks_;
      break;
    case Write:
      if (op.output <= op.written) return false;
      activity.active = false;
      ++op.written;
      --output_blocks_;
      op.landing.push_back(now_ + op.work.write_latency);
      break;
    default:
      break;
  }
  return true;
}

// Operations end in order.
void Pipeline::retire() {
  while (!operations_.empty() && operations_.front().is_complete()) {
    const size_t number = operations_.front().number;
    operations_.pop_front();
    for (size_t& at : at_)
      if (at > 0) --at;
    ended_(number);
  }
}

bool Pipeline::step() {
  // What each unit asks for, and which part of it the ports have.
  std::array<double, Units> speed;
  speed.fill(1);
  for (size_t port = 0; port < kPorts; ++port) {
    std::array<double, Units> asked = {};
    std::array<size_t, Units> order = {};
    size_t count = 0;
    for (size_t unit = 0; unit < Units; ++unit) {
      const Activity& activity = units_[unit];
      if (!activity.active || activity.wait > 0 || activity.left <= kNoWork ||
          activity.demand[port] <= 0)
        continue;
      asked[unit] = activity.demand[port];
      size_t place = count++;
      for (; place > 0 && asked[order[place - 1]] > asked[unit]; --place)
        order[place] = order[place - 1];
      order[place] = unit;
    }
    // Whoever asks for less than an even part has it; the others share the rest.
    double rest = 1;
    for (size_t i = 0; i < count; ++i) {
      const double given = std::min(asked[order[i]], rest / static_cast<double>(count - i));
      rest -= given;
      speed[order[i]] = std::min(speed[order[i]], given / asked[order[i]]);
    }
  }
  double next = -1;
  const auto at = [&](double cycles) {
    if (next < 0 || cycles < next) next = cycles;
  };
  for (size_t unit = 0; unit < Units; ++unit) {
    const Activity& activity = units_[unit];
    if (!activity.active) continue;
    if (activity.wait > 0)
      at(activity.wait);
    else if (activity.left > kNoWork)
      at(activity.left / speed[unit]);
  }
  for (const Running& op : operations_)
    if (!op.landing.empty()) at(std::max(0.0, op.landing.front() - now_));
  if (next < 0) return false;
  const double elapsed = next;
  now_ += elapsed;
  if (!operations_.empty()) times_.operations += elapsed;
  if (!transfers_.empty()) times_.transfers += elapsed;
  if (operations_.empty() && !transfers_.empty()) times_.transfers_alone += elapsed;
  for (size_t unit = 0; unit < Units; ++unit) {
    Activity& activity = units_[unit];
    if (!activity.active) continue;
    if (activity.wait > 0)
      activity.wait = activity.wait - elapsed > kNoWork ? activity.wait - elapsed : 0;
    else if (activity.left > kNoWork)
      activity.left = std::max(0.0, activity.left - elapsed * speed[unit]);
  }
  settle();
  return true;
}

}  // namespace intarsia::simulators::ethos_u
