#include "partitioning/cost_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "support/watched.h"
#include "target_kind/owners.h"

namespace intarsia::partitioning {
namespace {

using graph::Function;
using graph::Node;
using graph::TensorId;

bool travels(const Function& function, TensorId id) {
  return id.valid() && !function.tensor(id).constant.valid() && !function.tensor(id).variable;
}

std::vector<Carried> carried_tensors(const Function& function) {
  std::map<int32_t, size_t> place;
  std::vector<Carried> carried;
  const auto at = [&](TensorId id) -> Carried& {
    const auto [entry, fresh] = place.try_emplace(id.index, carried.size());
    if (fresh) carried.push_back({id, kCaller, {}, false, function.tensor(id).bytes()});
    return carried[entry->second];
  };
  for (const TensorId id : function.inputs)
    if (travels(function, id)) at(id);
  for (size_t n = 0; n < function.nodes.size(); ++n) {
    const Node& node = function.nodes[n];
    for (const TensorId id : node.inputs) {
      if (!travels(function, id)) continue;
      std::vector<int>& readers = at(id).readers;
      if (readers.empty() || readers.back() != static_cast<int>(n))
        readers.push_back(static_cast<int>(n));
    }
    for (const TensorId id : node.outputs)
      if (travels(function, id)) at(id).writer = static_cast<int>(n);
  }
  for (const TensorId id : function.outputs)
    if (travels(function, id)) at(id).is_output = true;
  return carried;
}

// From one CPU to another a tensor is copied into a mailbox and out of it: as much as the default of
// TargetKind::transfer_microseconds, one hand-over and four bytes per cycle at 100 MHz.
double mailbox_microseconds(int64_t bytes) {
  return 5.0 + static_cast<double>(bytes) / 4.0 / 100.0;
}

}  // namespace

CostModel::CostModel(const Function& function, const TargetRegistry& registry,
                     const TargetSpec& target, const Offers& offers, const FunctionCosts* costs,
                     bool savings)
    : carried_(carried_tensors(function)), owners_(owners_of(target, registry)) {
  const auto devices = target.devices();
  INTARSIA_CHECK(devices.size() <= kMostDevices, "devices are one bit each");
  const double terms = static_cast<double>(function.nodes.size() + 1) +
                       static_cast<double>(carried_.size() * (3 * devices.size() + 2));
  most_ = std::ldexp(1.0, 62) / terms;

  read_by_.resize(function.nodes.size());
  written_by_.resize(function.nodes.size());
  for (size_t n = 0; n < function.nodes.size(); ++n) {
    std::vector<CostEstimate> alone(devices.size());
    std::vector<Picoseconds> row(devices.size(), 0);
    const graph::NodeId node{static_cast<int32_t>(n)};
    for (size_t m = 0; m < devices.size(); ++m) {
      if (costs == nullptr || !offers.table.cells[n][m].can() || !watched::is_wanted()) continue;
      alone[m] = costs->of(m, {&node, 1});
      row[m] = limited(alone[m].microseconds());
    }
    alone_.push_back(std::move(alone));
    running_.push_back(std::move(row));
  }
  for (size_t c = 0; c < carried_.size(); ++c) {
    const Carried& tensor = carried_[c];
    for (const int reader : tensor.readers)
      read_by_[static_cast<size_t>(reader)].push_back(static_cast<int>(c));
    if (tensor.writer != kCaller)
      written_by_[static_cast<size_t>(tensor.writer)].push_back(static_cast<int>(c));
    std::vector<Picoseconds> row;
    for (const Target& device : devices)
      row.push_back(limited(registry.kind_of(device).transfer_microseconds(device, tensor.bytes)));
    sides_.push_back(std::move(row));
    mailbox_.push_back(limited(mailbox_microseconds(tensor.bytes)));
  }
  savings_.assign(carried_.size(), std::vector<Picoseconds>(devices.size(), 0));
  if (costs != nullptr && savings && devices.size() > 1) find_savings(offers, *costs);
}

void CostModel::find_savings(const Offers& offers, const FunctionCosts& costs) {
  for (size_t c = 0; c < carried_.size(); ++c) {
    const int writer = carried_[c].writer, reader = carried_[c].only_reader();
    if (writer == kCaller || reader == kCaller) continue;
    const graph::NodeId pair[] = {{writer}, {reader}};
    const size_t w = pair[0].at(), r = pair[1].at();
    for (size_t m = 0; m < owners_.size(); ++m) {
      if (!offers.table.cells[w][m].can() || !offers.table.cells[r][m].can()) continue;
      // Where two cost more than each alone, something else limits them: that is not the tensor's.
      const double saved = alone_[w][m].microseconds() + alone_[r][m].microseconds() -
                           costs.of(m, pair).microseconds();
      savings_[c][m] = limited(saved);
      running_[r][m] -= savings_[c][m];
    }
  }
}

Picoseconds CostModel::limited(double microseconds) const {
  if (!(microseconds > 0)) return 0;
  return static_cast<Picoseconds>(std::min(std::round(microseconds * 1e6), most_));
}

Picoseconds CostModel::moving(int carried, int writer, DeviceSet readers) const {
  const size_t c = static_cast<size_t>(carried);
  const DeviceSet others = readers & ~only(writer);
  if (others == 0) return 0;
  const Picoseconds cost = transferring(carried, writer, readers);
  // Of a tensor with one reader, `others` is that one's device.
  if (carried_[c].only_reader() == kCaller) return cost;
  return cost + savings_[c][static_cast<size_t>(std::countr_zero(others))];
}

Picoseconds CostModel::transferring(int carried, int writer, DeviceSet readers) const {
  const size_t c = static_cast<size_t>(carried);
  readers &= ~only(writer);
  if (readers == 0) return 0;
  Picoseconds cost = sides_[c][static_cast<size_t>(writer)];
  DeviceSet cpus = only(static_cast<int>(owners_[static_cast<size_t>(writer)]));
  for (; readers != 0; readers &= readers - 1) {
    const size_t device = static_cast<size_t>(std::countr_zero(readers));
    cost += sides_[c][device];
    const DeviceSet cpu = only(static_cast<int>(owners_[device]));
    if ((cpus & cpu) == 0) cost += mailbox_[c];
    cpus |= cpu;
  }
  return cost;
}

}  // namespace intarsia::partitioning
