#include "schedule/cascade_steps.h"

#include <algorithm>

#include "commands/stripe_commands.h"
#include "intarsia/npu/scratch_placement.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr size_t kMostSteps = 4096;
constexpr int64_t kMostSlots = 16;  // that IFM_SLOTS can name
constexpr int64_t kNever = -1;
constexpr int64_t kSramAlignment = 16;  // bytes of a bank

// Which rows of the map the layer reads. Besides its own the MCE takes whole stripes above and below.
RowWindow window_of(const StripePlan& plan, const CascadeMap& map) {
  if (plan.count == 1) return RowWindow::whole(map.map.height);
  // A stripe of the input is as long as the output's, or a multiple or a part of it.
  const int64_t stride = std::max<int64_t>(plan.input_rows / plan.output_rows, 1);
  const int64_t upscale = std::max<int64_t>(plan.output_rows / plan.input_rows, 1);
  const int64_t beside = plan.needs_neighbours ? plan.input_rows * upscale : 0;
  return {stride + 2 * beside, stride, 1, beside, upscale};
}

npu::CascadeProblem problem_of(const Cascade& cascade, bool overlaps) {
  npu::CascadeProblem problem;
  for (const CascadeMap& map : cascade.maps)
    problem.maps.push_back({map.map.height, map.slot_rows, map.loads, overlaps ? 1 : 0,
                            !map.loads && !map.stores.empty()});
  for (const CascadeLayer& layer : cascade.layers) {
    npu::CascadeProblem::Operation& made = problem.operations.emplace_back();
    for (const size_t map : layer.inputs)
      made.inputs.push_back({map, window_of(layer.plan, cascade.maps[map])});
    made.output = layer.output;
    made.piece_rows = cascade.maps[layer.output].piece_rows;
  }
  return problem;
}

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
  std::optional<npu::CascadeOrder> order =
      npu::order_cascade(problem_of(cascade, overlaps), kMostSteps);
  if (!order) return false;
  cascade.steps.clear();
  for (npu::CascadeStep& step : order->steps)
    cascade.steps.push_back({step.operation,
                             step.rows.first / cascade.layers[step.operation].plan.output_rows,
                             std::move(step.loads)});
  std::vector<bool> is_read(cascade.maps.size(), false);
  for (CascadeLayer& layer : cascade.layers) {
    layer.plan.input_slots = order->ring_slots[layer.inputs[0]];
    for (const size_t map : layer.inputs) {
      is_read[map] = true;
      if (program.layers[layer.number].mce && order->ring_slots[map] > kMostSlots) return false;
    }
  }
  for (size_t m = 0; m < cascade.maps.size(); ++m) {
    CascadeMap& map = cascade.maps[m];
    map.slots = order->ring_slots[m];
    // One goes out while the next is made.
    if (overlaps && !is_read[m])
      map.slots = std::min<int64_t>(2, ceil_div(map.map.height, map.slot_rows));
  }
  add_loads(program, cascade, before);
  return true;
}

bool place_cascade(const Variant& variant, const Program& program, Cascade& cascade,
                   WeightStore& weights, bool spreads) {
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
    for (const npu::CascadeStep::Load& load : step.loads) {
      const CascadeMap& map = cascade.maps[load.map];
      traffic.bytes += transfer_bytes(map.map, rows_of(load.slot, map.slot_rows, map.map.height));
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

  std::vector<npu::ScratchRequest> requests;
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
  std::optional<int64_t> end = npu::place_scratch(requests, variant.emc_bytes, kSramAlignment, 0);
  if (!end) return false;
  if (spreads)
    if (const auto spread = npu::spread_scratch(requests, variant.emc_bytes, kSramAlignment))
      end = spread;
  for (size_t i = 0; i < requests.size(); ++i) *places[i] = requests[i].address;
  for (CascadeLayer& layer : cascade.layers)
    if (layer.reloads) layer.weights = shared_at;
  cascade.bank_bytes = *end;
  return true;
}

}  // namespace intarsia::targets::ethos_n
