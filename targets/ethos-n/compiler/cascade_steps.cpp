#include "cascade_steps.h"

#include <algorithm>

#include "intarsia/rounding.h"
#include "sram_allocation.h"
#include "stripe_commands.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr size_t kMostSteps = 4096;
constexpr int64_t kMostSlots = 16;  // that IFM_SLOTS can name
constexpr int64_t kNever = -1;

// From when to when a slot's rows are needed.
struct SlotLife {
  int64_t written = INT64_MAX, read = kNever;
};

class Orderer {
 public:
  Orderer(const Program& program, Cascade& cascade, bool overlaps)
      : program_(program),
        cascade_(cascade),
        overlaps_(overlaps),
        done_(cascade.layers.size(), 0),
        loaded_(cascade.maps.size(), 0),
        writers_(cascade.maps.size(), SIZE_MAX),
        lives_(cascade.maps.size()) {
    for (size_t l = 0; l < cascade.layers.size(); ++l) writers_[cascade.layers[l].output] = l;
    for (size_t m = 0; m < cascade.maps.size(); ++m)
      lives_[m].resize(static_cast<size_t>(ceil_div(height(m), cascade.maps[m].slot_rows)));
  }

  bool run() {
    cascade_.steps.clear();
    std::vector<size_t> ends;
    std::vector<bool> is_read(cascade_.maps.size(), false);
    for (const CascadeLayer& layer : cascade_.layers)
      for (const size_t map : layer.inputs) is_read[map] = true;
    int64_t most = 0;
    for (size_t l = 0; l < cascade_.layers.size(); ++l)
      if (!is_read[cascade_.layers[l].output]) {
        ends.push_back(l);
        most = std::max(most, count(l));
      }
    // Ends that no other layer waits for keep pace with each other.
    for (int64_t turn = 0; turn < most && !overflows_; ++turn)
      for (const size_t l : ends) advance(l, ceil_div((turn + 1) * count(l), most));
    for (size_t l = 0; l < cascade_.layers.size(); ++l)
      if (!cascade_.maps[cascade_.layers[l].output].stores.empty()) advance(l, count(l));
    return !overflows_ && size_rings();
  }

 private:
  int64_t count(size_t l) const { return cascade_.layers[l].plan.count; }
  int64_t height(size_t map) const { return cascade_.maps[map].map.height; }

  void advance(size_t l, int64_t stripes) {
    const CascadeLayer& layer = cascade_.layers[l];
    while (done_[l] < std::min(stripes, count(l)) && !overflows_) {
      const int64_t stripe = done_[l], beside = layer.plan.needs_neighbours ? 1 : 0;
      for (const size_t map : layer.inputs) {
        const int64_t rows = std::min(height(map), (stripe + 1 + beside) * layer.plan.input_rows);
        if (writers_[map] != SIZE_MAX)
          advance(writers_[map], ceil_div(rows, cascade_.maps[map].piece_rows));
      }
      const auto now = static_cast<int64_t>(cascade_.steps.size());
      if (cascade_.steps.size() == kMostSteps) overflows_ = true;
      CascadeStep step;
      step.layer = l, step.stripe = stripe;
      for (const size_t map : layer.inputs) {
        const auto slots = static_cast<int64_t>(lives_[map].size());
        if (cascade_.maps[map].loads)
          for (; loaded_[map] < std::min(slots, stripe + 1 + beside + (overlaps_ ? 1 : 0));
               ++loaded_[map]) {
            step.loads.push_back({map, loaded_[map]});
            life(map, loaded_[map]).written = now;
          }
        for (int64_t slot = std::max<int64_t>(0, stripe - beside);
             slot < std::min(slots, stripe + 1 + beside); ++slot)
          life(map, slot).read = now;
      }
      const CascadeMap& out = cascade_.maps[layer.output];
      SlotLife& written = life(layer.output, stripe * out.piece_rows / out.slot_rows);
      written.written = std::min(written.written, now);
      // Until it has gone to DRAM, and in any case while it is written.
      written.read = std::max(written.read, now);
      cascade_.steps.push_back(std::move(step));
      ++done_[l];
    }
  }

  SlotLife& life(size_t map, int64_t slot) { return lives_[map][static_cast<size_t>(slot)]; }

  // The fewest slots with which none is written before its rows were read.
  bool size_rings() {
    std::vector<bool> is_read_by_mce(cascade_.maps.size(), false),
        is_read(cascade_.maps.size(), false);
    for (const CascadeLayer& layer : cascade_.layers)
      for (const size_t map : layer.inputs) {
        is_read[map] = true;
        if (program_.layers[layer.number].mce) is_read_by_mce[map] = true;
      }
    for (size_t m = 0; m < cascade_.maps.size(); ++m) {
      CascadeMap& map = cascade_.maps[m];
      const auto all = static_cast<int64_t>(lives_[m].size());
      const auto is_enough = [&](int64_t slots) {
        for (int64_t i = slots; i < all; ++i)
          if (life(m, i).written <= life(m, i - slots).read) return false;
        return true;
      };
      map.slots = 1;
      while (!is_enough(map.slots)) ++map.slots;
      // One goes out while the next is made.
      if (overlaps_ && !is_read[m]) map.slots = std::min<int64_t>(2, all);
      if (is_read_by_mce[m] && map.slots > kMostSlots) return false;
    }
    for (CascadeLayer& layer : cascade_.layers)
      layer.plan.input_slots = cascade_.maps[layer.inputs[0]].slots;
    return true;
  }

  const Program& program_;
  Cascade& cascade_;
  bool overlaps_, overflows_ = false;
  std::vector<int64_t> done_, loaded_;
  std::vector<size_t> writers_;  // by map
  std::vector<std::vector<SlotLife>> lives_;
};

// Which steps bring weights and kernels.
void add_loads(const Program& program, Cascade& cascade, const PleKernel* before) {
  constexpr size_t kNobody = SIZE_MAX;
  std::vector<bool> has_weights(cascade.layers.size(), false);
  for (CascadeKernel& kernel : cascade.kernels) kernel.loads = false;
  size_t shared = kNobody;
  const PleKernel* loaded = before;
  for (CascadeStep& step : cascade.steps) {
    const CascadeLayer& layer = cascade.layers[step.layer];
    if (program.layers[layer.number].mce) {
      step.loads_weights = layer.reloads ? shared != step.layer : !has_weights[step.layer];
      has_weights[step.layer] = true;
      if (layer.reloads)
        shared = layer.parts(program.layers[layer.number]) == 1 ? step.layer : kNobody;
    }
    CascadeKernel& kernel = cascade.kernels[layer.kernel];
    step.switches_kernel = kernel.kernel != loaded;
    step.loads_kernel = step.switches_kernel && !kernel.loads;
    if (step.switches_kernel) kernel.loads = true;
    loaded = kernel.kernel;
  }
}

struct Span {
  int64_t begin = INT64_MAX, end = kNever;
  void add(int64_t step) { begin = std::min(begin, step), end = std::max(end, step); }
  bool is_empty() const { return end == kNever; }
};

}  // namespace

bool order_steps(const Program& program, Cascade& cascade, const PleKernel* before, bool overlaps) {
  if (!Orderer(program, cascade, overlaps).run()) return false;
  add_loads(program, cascade, before);
  return true;
}

bool place_cascade(const Variant& variant, const Program& program, Cascade& cascade,
                   WeightStore& weights) {
  std::vector<Span> of_maps(cascade.maps.size()), of_weights(cascade.layers.size()),
      of_kernels(cascade.kernels.size());
  Span of_shared;
  int64_t shared_bytes = 0;
  Traffic traffic;
  traffic.stripes = static_cast<int64_t>(cascade.steps.size());
  for (size_t i = 0; i < cascade.steps.size(); ++i) {
    const CascadeStep& step = cascade.steps[i];
    CascadeLayer& layer = cascade.layers[step.layer];
    const Layer& from = program.layers[layer.number];
    const auto now = static_cast<int64_t>(i);
    for (const size_t map : layer.inputs) of_maps[map].add(now);
    of_maps[layer.output].add(now);
    if (step.switches_kernel) of_kernels[layer.kernel].add(now);
    if (step.loads_kernel) traffic.bytes += kKernelBytes;
    for (const CascadeStep::Slot& load : step.loads) {
      const CascadeMap& map = cascade.maps[load.map];
      traffic.bytes += transfer_bytes(map.map, rows_of(load.index, map.slot_rows, map.map.height));
    }
    const CascadeMap& out = cascade.maps[layer.output];
    for (const FeatureMap& store : out.stores)
      traffic.bytes +=
          transfer_bytes(store, rows_of(step.stripe, layer.plan.output_rows, store.height));
    if (!from.mce) continue;
    traffic.stripes += layer.parts(from) - 1;
    int64_t largest = 0;
    for (const WeightStripe& stripe : weights.stripes(layer.number, layer.part)) {
      if (step.loads_weights) traffic.bytes += static_cast<int64_t>(stripe.bytes.size());
      largest = std::max(largest, stripe.bank_bytes);
    }
    layer.part_slot_bytes = largest;
    (layer.reloads ? of_shared : of_weights[step.layer]).add(now);
    if (layer.reloads)
      shared_bytes =
          std::max(shared_bytes, std::min<int64_t>(layer.parts(from), kPartsAtOnce) * largest);
  }
  cascade.traffic = traffic;

  std::vector<SramRequest> requests;
  std::vector<int64_t*> places;
  const auto request = [&](int64_t bytes, const Span& span, int64_t& place) {
    if (span.is_empty()) return;
    requests.push_back({bytes, span.begin, span.end, 0});
    places.push_back(&place);
  };
  int64_t shared_at = 0;
  for (size_t i = 0; i < cascade.kernels.size(); ++i)
    request(kKernelBytes, of_kernels[i], cascade.kernels[i].address);
  for (size_t i = 0; i < cascade.layers.size(); ++i)
    if (!of_weights[i].is_empty())
      request(weights.whole(cascade.layers[i].number).bank_bytes, of_weights[i],
              cascade.layers[i].weights);
  request(shared_bytes, of_shared, shared_at);
  for (size_t i = 0; i < cascade.maps.size(); ++i)
    request(cascade.maps[i].slots * cascade.maps[i].slot_bytes, of_maps[i],
            cascade.maps[i].address);
  const std::optional<int64_t> end = allocate(requests, variant.emc_bytes);
  if (!end) return false;
  for (size_t i = 0; i < requests.size(); ++i) *places[i] = requests[i].address;
  for (CascadeLayer& layer : cascade.layers)
    if (layer.reloads) layer.weights = shared_at;
  cascade.bank_bytes = *end;
  return true;
}

}  // namespace intarsia::targets::ethos_n
