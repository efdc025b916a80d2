#include "encode/layer_writer.h"

#include <algorithm>

#include "weights/weight_layout.h"

namespace intarsia::targets::ethos_n {
void LayerWriter::write(const Layer& layer, const LayerPlacement& placement,
                        const std::vector<WeightStripe>& weights) {
  if (layer.mce) return write_mce(layer, placement, weights);
  if (layer.ple) return write_ple(layer, placement);
  write_copy(layer, placement);
}

LayerWriter::PleAgent LayerWriter::add_ple(const Layer& layer, int64_t kernel_at) {
  const PleKernel& kernel = kernel_for(layer);
  if (loaded_.kernel != &kernel)
    transfers_.load_kernel(add_kernel_loader(variant_, stream_, kernel), kernel_at);
  const uint32_t agent = add_ple_agent(variant_, stream_, layer, kernel_at);
  loaded_.switch_to(kernel, stream_, agent, kernel_at);
  return {agent, &kernel};
}

void LayerWriter::write_mce(const Layer& layer, const LayerPlacement& placement,
                            const std::vector<WeightStripe>& weights) {
  const StripePlan& plan = placement.plan;
  const MceStep& step = *layer.mce;
  const FeatureMap &in = layer.inputs[0], &out = layer.output;
  const bool vector = is_vector_product(layer);

  // Weights of all stripes, one after another.
  std::vector<int64_t> weights_at;
  std::vector<uint8_t> bytes;
  for (const WeightStripe& stripe : weights) {
    INTARSIA_CHECK(stripe.bank_bytes <= plan.weight_slot_bytes, "the bound of weights holds");
    weights_at.push_back(static_cast<int64_t>(bytes.size()));
    bytes.insert(bytes.end(), stripe.bytes.begin(), stripe.bytes.end());
  }
  const NetworkWriter::Place constants = network_.add_weights(bytes);
  for (int64_t& at : weights_at) at += constants.base;

  FeatureMap streamed = in;
  if (vector) streamed.layout = Layout::Nhwcb;  // as bricks, whatever it is
  const bool loads = !placement.input_stays[0];
  const uint32_t loader = loads ? transfers_.add_loader(streamed) : 0;
  const uint32_t weight_loader = stream_.add_agent(
      AgentRecord(AgentType::WGT_STREAMER).set(agent_field::WGT_STREAMER_buffer, constants.buffer));
  const PleAgent ple = add_ple(layer, placement.kernel);
  const uint32_t mce = stream_.add_agent(mce_agent(
      layer, plan, *ple.kernel, kernel_number(variant_, *ple.kernel), placement.inputs[0]));
  const uint32_t storer = placement.output_stays ? 0 : transfers_.add_storer(out);

  const int64_t inputs = loads ? input_stripes(layer, plan) : 0;
  int64_t loaded_inputs = 0, loaded_weights = 0;
  const auto slot_at = [](int64_t base, int64_t bytes_of_slot, int64_t slot) {
    return base + slot * bytes_of_slot;
  };
  const auto load_inputs = [&](int64_t end) {
    for (; loaded_inputs < std::min(end, inputs); ++loaded_inputs) {
      const int64_t at =
          slot_at(placement.inputs[0], plan.input_slot_bytes, loaded_inputs % plan.input_slots);
      if (vector)
        transfers_.load_vector(loader, streamed, at, plan.input_slot_bytes);
      else
        transfers_.load(loader, in, loaded_inputs * plan.input_rows,
                        rows_of(loaded_inputs, plan.input_rows, in.height), at,
                        plan.input_slot_bytes);
    }
  };
  const int64_t weight_loads =
      plan.keeps_weights ? plan.depth_count : plan.count * plan.depth_count;
  const auto load_weights = [&](int64_t end) {
    for (; loaded_weights < std::min(end, weight_loads); ++loaded_weights) {
      const auto d = static_cast<size_t>(loaded_weights % plan.depth_count);
      transfers_.load_weights(
          weight_loader, weights_at[d], static_cast<int64_t>(weights[d].bytes.size()),
          slot_at(placement.weights, plan.weight_slot_bytes, loaded_weights % plan.weight_slots),
          plan.weight_slot_bytes);
    }
  };

  Event configured;
  for (int64_t s = 0; s < plan.count; ++s)
    for (int64_t d = 0; d < plan.depth_count; ++d) {
      const int64_t turn = s * plan.depth_count + d;
      // What this stripe needs, and the first of what the next one does.
      load_inputs(s + 1 + (plan.needs_neighbours ? 1 : 0));
      load_weights(turn + 1);
      if (plan.input_slots > plan.slots_in_work())
        load_inputs(s + 2 + (plan.needs_neighbours ? 1 : 0));
      if (plan.weight_slots > 1) load_weights(turn + 2);

      const auto part = static_cast<size_t>(d);
      const int64_t weight_slot = plan.keeps_weights ? d : turn % plan.weight_slots;
      MceStripe stripe;
      stripe.index = s;
      stripe.rows = rows_of(s, plan.mce_rows, step.height);
      stripe.ofms = rows_of(d, plan.depth, step.depth);
      stripe.weights_at = slot_at(placement.weights, plan.weight_slot_bytes, weight_slot);
      stripe.second_og_at = weights[part].second_og_at;
      std::vector<Access> reads = {sram_access(stripe.weights_at, weights[part].bank_bytes, false)};
      for (const int64_t slot : input_slots(layer, plan, s))
        reads.push_back(sram_access(slot_at(placement.inputs[0], plan.input_slot_bytes, slot),
                                    plan.input_slot_bytes, false));
      stream_.append(Queue::Mce, program_mce(variant_, layer, plan, *ple.kernel, mce, stripe));
      if (turn == 0) {
        // The buffers between MCE and PLE are empty when all before is done.
        stream_.wait(Queue::Mce, {Counter::PleStripe, stream_.count(Counter::PleStripe)});
        configured = stream_.config_mceif(
            CommandWords(CommandType::ConfigMceif).set(word::Config_agent, mce));
      }
      stream_.start_mce(start_mce(variant_, layer, mce, stripe.ofms), reads);
      stream_.wait(Queue::Ple, configured);
      const int64_t output_at =
          slot_at(placement.outputs, plan.output_slot_bytes, turn % plan.output_slots);
      const int64_t rows = rows_of(s, plan.output_rows, out.height);
      stream_.start_ple(
          start_ple(layer, ple.agent, flags_of(s, plan.count), {0, 0}, output_at, out.width, rows,
                    stripe.ofms == step.depth ? out.depth : stripe.ofms),
          {sram_access(output_at, plan.output_slot_bytes, true)});
      if (placement.output_stays) continue;
      transfers_.store(storer, out, s * plan.output_rows, rows, d * plan.depth,
                       stripe.ofms == step.depth ? out.depth : stripe.ofms, output_at,
                       plan.output_slot_bytes);
    }
}

void LayerWriter::write_ple(const Layer& layer, const LayerPlacement& placement) {
  const StripePlan& plan = placement.plan;
  const FeatureMap& out = layer.output;
  const size_t inputs = layer.inputs.size();
  std::vector<uint32_t> loaders;
  for (size_t i = 0; i < inputs; ++i)
    loaders.push_back(placement.input_stays[i] ? 0 : transfers_.add_loader(layer.inputs[i]));
  const PleAgent ple = add_ple(layer, placement.kernel);
  const uint32_t storer = placement.output_stays ? 0 : transfers_.add_storer(out);
  for (int64_t s = 0; s < plan.count; ++s) {
    std::array<int64_t, 2> inputs_at = {};
    std::vector<Access> accesses;
    for (size_t i = 0; i < inputs; ++i) {
      inputs_at[i] = placement.inputs[i] + s % plan.input_slots * plan.input_slot_bytes;
      if (!placement.input_stays[i])
        transfers_.load(loaders[i], layer.inputs[i], s * plan.input_rows,
                        rows_of(s, plan.input_rows, layer.inputs[i].height), inputs_at[i],
                        plan.input_slot_bytes);
      accesses.push_back(sram_access(inputs_at[i], plan.input_slot_bytes, false));
    }
    const int64_t output_at = placement.outputs + s % plan.output_slots * plan.output_slot_bytes;
    const int64_t rows = rows_of(s, plan.output_rows, out.height);
    accesses.push_back(sram_access(output_at, plan.output_slot_bytes, true));
    stream_.start_ple(start_ple(layer, ple.agent, flags_of(s, plan.count), inputs_at, output_at,
                                out.width, rows, out.depth),
                      accesses);
    if (!placement.output_stays)
      transfers_.store(storer, out, s * plan.output_rows, rows, 0, out.depth, output_at,
                       plan.output_slot_bytes);
  }
}

void LayerWriter::write_copy(const Layer& layer, const LayerPlacement& placement) {
  const StripePlan& plan = placement.plan;
  const FeatureMap &in = layer.inputs[0], &out = layer.output;
  const uint32_t loader = transfers_.add_loader(in), storer = transfers_.add_storer(out);
  for (int64_t s = 0; s < plan.count; ++s) {
    const int64_t at = placement.inputs[0] + s % plan.input_slots * plan.input_slot_bytes;
    const int64_t rows = rows_of(s, plan.input_rows, in.height);
    transfers_.load(loader, in, s * plan.input_rows, rows, at, plan.input_slot_bytes);
    transfers_.store(storer, out, s * plan.input_rows, rows, 0, out.depth, at,
                     plan.input_slot_bytes);
  }
}

}  // namespace intarsia::targets::ethos_n
