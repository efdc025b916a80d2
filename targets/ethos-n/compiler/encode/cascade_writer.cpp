#include "encode/cascade_writer.h"

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_n {

void CascadeWriter::write(const Cascade& cascade) {
  add_agents(cascade);
  running_.reset();
  configured_ = nullptr;
  for (const CascadeStep& step : cascade.steps) {
    write_loads(cascade, step);
    const CascadeLayer& made = cascade.layers[step.layer];
    const CascadeKernel& kernel = cascade.kernels[made.kernel];
    loaded_.switch_to(*kernel.kernel, stream_, layers_[step.layer].ple, kernel.address);
    if (layer_of(made).mce) write_mce(cascade, step);
    write_ple(cascade, step);
    write_stores(cascade, step);
    running_ = step.layer;
  }
}

void CascadeWriter::add_agents(const Cascade& cascade) {
  layers_.clear(), maps_.clear(), kernels_.clear();
  for (const CascadeMap& map : cascade.maps) {
    MapAgents& agents = maps_.emplace_back();
    if (map.loads) agents.loader = transfers_.add_loader(map.map);
    for (const FeatureMap& store : map.stores)
      agents.storers.push_back(transfers_.add_storer(store));
  }
  for (const CascadeKernel& kernel : cascade.kernels)
    kernels_.push_back(kernel.loads ? add_kernel_loader(variant_, stream_, *kernel.kernel) : 0);
  for (const CascadeLayer& made : cascade.layers) {
    const Layer& layer = layer_of(made);
    const CascadeKernel& kernel = cascade.kernels[made.kernel];
    LayerAgents& agents = layers_.emplace_back();
    if (layer.mce) {
      std::vector<uint8_t> bytes;
      for (const WeightStripe& part : weights_.stripes(made.number, made.part)) {
        agents.parts_at.push_back(static_cast<int64_t>(bytes.size()));
        bytes.insert(bytes.end(), part.bytes.begin(), part.bytes.end());
      }
      const NetworkWriter::Place constants = network_.add_weights(bytes);
      for (int64_t& at : agents.parts_at) at += constants.base;
      agents.weights =
          stream_.add_agent(AgentRecord(AgentType::WGT_STREAMER)
                                .set(agent_field::WGT_STREAMER_buffer, constants.buffer));
      agents.mce = stream_.add_agent(mce_agent(layer, made.plan, *kernel.kernel,
                                               kernel_number(variant_, *kernel.kernel),
                                               cascade.maps[made.inputs[0]].address));
    }
    agents.ple = add_ple_agent(variant_, stream_, layer, kernel.address);
  }
}

void CascadeWriter::write_loads(const Cascade& cascade, const CascadeStep& step) {
  const CascadeLayer& made = cascade.layers[step.layer];
  const CascadeKernel& kernel = cascade.kernels[made.kernel];
  if (step.loads_kernel) transfers_.load_kernel(kernels_[made.kernel], kernel.address);
  for (const npu::CascadeStep::Load& load : step.loads) {
    const CascadeMap& map = cascade.maps[load.map];
    const int64_t first = load.slot * map.slot_rows;
    transfers_.load(maps_[load.map].loader, map.map, first,
                    rows_of(load.slot, map.slot_rows, map.map.height), map.place(variant_, first),
                    map.slot_bytes);
  }
}

// Each part's weights arrive while the part before is computed.
void CascadeWriter::write_mce(const Cascade& cascade, const CascadeStep& step) {
  const CascadeLayer& made = cascade.layers[step.layer];
  const LayerAgents& agents = layers_[step.layer];
  const std::vector<WeightStripe>& parts = weights_.stripes(made.number, made.part);
  const auto place = [&](size_t part) {
    return made.weights +
           static_cast<int64_t>(part % static_cast<size_t>(kPartsAtOnce)) * made.part_slot_bytes;
  };
  size_t loaded = 0;
  const auto load = [&](size_t end) {
    for (; step.loads_weights && loaded < std::min(end, parts.size()); ++loaded)
      transfers_.load_weights(agents.weights, agents.parts_at[loaded],
                              static_cast<int64_t>(parts[loaded].bytes.size()), place(loaded),
                              parts[loaded].bank_bytes);
  };
  for (size_t part = 0; part < parts.size(); ++part) {
    load(part + static_cast<size_t>(kPartsAtOnce));
    write_part(cascade, step, static_cast<int64_t>(part), place(part));
  }
}

void CascadeWriter::write_part(const Cascade& cascade, const CascadeStep& step, int64_t part,
                               int64_t weights_at) {
  const CascadeLayer& made = cascade.layers[step.layer];
  const Layer& layer = layer_of(made);
  const StripePlan& plan = made.plan;
  const PleKernel& kernel = *cascade.kernels[made.kernel].kernel;
  const uint32_t agent = layers_[step.layer].mce;
  const WeightStripe& weights = weights_.stripes(made.number, made.part)[static_cast<size_t>(part)];
  MceStripe stripe;
  stripe.index = step.stripe;
  stripe.rows = rows_of(step.stripe, plan.mce_rows, layer.mce->height);
  stripe.ofms = rows_of(part, made.part, layer.mce->depth);
  stripe.weights_at = weights_at;
  stripe.second_og_at = weights.second_og_at;
  std::vector<Access> reads = {sram_access(weights_at, weights.bank_bytes, false)};
  const int64_t base = cascade.maps[made.inputs[0]].address;
  for (const int64_t slot : input_slots(layer, plan, step.stripe))
    reads.push_back(sram_access(base + slot * plan.input_slot_bytes, plan.input_slot_bytes, false));
  stream_.append(Queue::Mce, program_mce(variant_, layer, plan, kernel, agent, stripe));
  // Another layer's blocks are all gone before this one's come, and perhaps in another size.
  if (running_ != step.layer && part == 0)
    stream_.wait(Queue::Mce, {Counter::PleStripe, stream_.count(Counter::PleStripe)});
  if (configured_ != &kernel) {
    configuration_ =
        stream_.config_mceif(CommandWords(CommandType::ConfigMceif).set(word::Config_agent, agent));
    configured_ = &kernel;
  }
  stream_.start_mce(start_mce(variant_, layer, agent, stripe.ofms), reads);
  stream_.wait(Queue::Ple, configuration_);
}

void CascadeWriter::write_ple(const Cascade& cascade, const CascadeStep& step) {
  const CascadeLayer& made = cascade.layers[step.layer];
  const Layer& layer = layer_of(made);
  const CascadeMap& out = cascade.maps[made.output];
  const int64_t rows = rows_of(step.stripe, made.plan.output_rows, out.map.height);
  const int64_t output_at = out.place(variant_, step.stripe * made.plan.output_rows);
  std::array<int64_t, 2> inputs_at = {};
  std::vector<Access> accesses;
  if (!layer.mce)
    for (size_t i = 0; i < made.inputs.size(); ++i) {
      const CascadeMap& in = cascade.maps[made.inputs[i]];
      inputs_at[i] = in.place(variant_, step.stripe * made.plan.input_rows);
      const int64_t taken = rows_of(step.stripe, made.plan.input_rows, in.map.height);
      accesses.push_back(
          sram_access(inputs_at[i], ceil_div(taken, 8) * in.row_bytes(variant_), false));
    }
  accesses.push_back(sram_access(output_at, ceil_div(rows, 8) * out.row_bytes(variant_), true));
  stream_.start_ple(
      start_ple(layer, layers_[step.layer].ple, flags_of(step.stripe, made.plan.count), inputs_at,
                output_at, out.map.width, rows, out.map.depth),
      accesses);
}

void CascadeWriter::write_stores(const Cascade& cascade, const CascadeStep& step) {
  const CascadeLayer& made = cascade.layers[step.layer];
  const CascadeMap& out = cascade.maps[made.output];
  const int64_t first = step.stripe * made.plan.output_rows;
  const int64_t rows = rows_of(step.stripe, made.plan.output_rows, out.map.height);
  for (size_t i = 0; i < out.stores.size(); ++i)
    transfers_.store(maps_[made.output].storers[i], out.stores[i], first, rows, 0,
                     out.stores[i].depth, out.place(variant_, first),
                     ceil_div(rows, 8) * out.row_bytes(variant_));
}

}  // namespace intarsia::targets::ethos_n
