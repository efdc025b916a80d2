#include "encode/generate.h"

#include <algorithm>

#include "commands/transfers.h"
#include "encode/cascade_writer.h"
#include "encode/layer_writer.h"
#include "encode/network_writer.h"
#include "intarsia/npu/scratch_placement.h"
#include "intarsia/plan.h"
#include "network/payload.h"
#include "schedule/sections.h"

namespace intarsia::targets::ethos_n {
namespace {

struct Life {
  size_t first = SIZE_MAX, last = 0;  // layers
};

// In sections. What stays in SRAM has none.
std::vector<Life> lives_of(const Program& program, const std::vector<Section>& sections) {
  std::vector<Life> lives(program.storages.size());
  for (const Section& section : sections) {
    const auto use = [&](const FeatureMap& map, size_t when) {
      Life& life = lives[static_cast<size_t>(map.storage)];
      life.first = std::min(life.first, when);
      life.last = std::max(life.last, when);
    };
    for (size_t i = section.first; i < section.end && !section.cascade; ++i) {
      const LayerPlacement& placement = section.placements[i - section.first];
      const Layer& layer = program.layers[i];
      for (size_t k = 0; k < layer.inputs.size(); ++k)
        if (!placement.input_stays[k]) use(layer.inputs[k], i);
      if (!placement.output_stays) use(layer.output, i);
    }
    if (!section.cascade) continue;
    // All that a cascade touches is there from its first stripe to its last.
    for (const CascadeMap& map : section.cascade->maps)
      for (const size_t when : {section.first, section.end - 1}) {
        if (map.loads) use(map.map, when);
        for (const FeatureMap& store : map.stores) use(store, when);
      }
  }
  return lives;
}

// Intermediate buffers share memory when their lives do not overlap. Returns the offset of each in it.
std::vector<int64_t> place_intermediates(const Program& program, const std::vector<Life>& lives,
                                         int64_t& peak) {
  std::vector<npu::ScratchRequest> requests;
  std::vector<size_t> storages;
  for (size_t i = 0; i < program.storages.size(); ++i) {
    const Storage& storage = program.storages[i];
    if (storage.kind != Storage::Kind::Intermediate || lives[i].first == SIZE_MAX) continue;
    requests.push_back({storage.bytes, static_cast<int64_t>(lives[i].first),
                        static_cast<int64_t>(lives[i].last), 0});
    storages.push_back(i);
  }
  peak = std::max(peak,
                  npu::place_scratch_low(requests, kBufferAlignment, PlanOptions{}.search_budget));
  std::vector<int64_t> offsets(program.storages.size(), 0);
  for (size_t r = 0; r < requests.size(); ++r) offsets[storages[r]] = requests[r].address;
  return offsets;
}

// Buffers if everything has its own: the command stream, and the weights of every layer.
int64_t own_buffers(const Program& program, const std::vector<Life>& lives) {
  int64_t count = 1;
  for (const Layer& layer : program.layers) count += layer.mce ? 1 : 0;
  for (size_t i = 0; i < program.storages.size(); ++i)
    count += program.storages[i].kind != Storage::Kind::Intermediate || lives[i].first != SIZE_MAX;
  return count;
}

// Buffers are numbered inputs first, then outputs, as the region has them, then what is intermediate and has a life.
std::vector<size_t> in_order_of_buffers(const Program& program, const std::vector<Life>& lives) {
  std::vector<size_t> order;
  for (const Storage::Kind kind :
       {Storage::Kind::Input, Storage::Kind::Output, Storage::Kind::Intermediate}) {
    const auto first = static_cast<ptrdiff_t>(order.size());
    for (size_t i = 0; i < program.storages.size(); ++i)
      if (program.storages[i].kind == kind &&
          (kind != Storage::Kind::Intermediate || lives[i].first != SIZE_MAX))
        order.push_back(i);
    if (kind != Storage::Kind::Intermediate)
      std::stable_sort(order.begin() + first, order.end(), [&](size_t a, size_t b) {
        return program.storages[a].parameter < program.storages[b].parameter;
      });
  }
  return order;
}

CascadeDescription description(const Program& program, const Section& section) {
  CascadeDescription described;
  for (const CascadeLayer& made : section.cascade->layers) {
    const std::string& name = program.layers[made.number].name;
    if (described.operators.empty() || described.operators.back() != name)
      described.operators.push_back(name);
  }
  described.stripes = static_cast<int64_t>(section.cascade->steps.size());
  described.bytes = section.traffic.bytes;
  return described;
}

}  // namespace

GeneratedNetwork generate(const Variant& variant, const Program& program,
                          const GenerateOptions& options) {
  GeneratedNetwork result;
  WeightStore weights(variant, program);
  const std::vector<Section> sections = options.allows_cascades
                                            ? cut_into_sections(variant, program, weights)
                                            : cut_into_layers(variant, program, weights);
  const std::vector<Life> lives = lives_of(program, sections);
  const std::vector<int64_t> offsets =
      place_intermediates(program, lives, result.intermediate_bytes);
  const bool shares = own_buffers(program, lives) > most_buffers();
  NetworkWriter network(shares);
  std::vector<StoragePlace> places(program.storages.size());
  for (const size_t i : in_order_of_buffers(program, lives)) {
    const Storage& storage = program.storages[i];
    StoragePlace& place = places[i];
    place.bytes = storage.bytes;
    if (storage.kind == Storage::Kind::Intermediate) {
      // Vectors are read in whole brick groups, in a buffer of their own beyond its end; here all must lie inside.
      const int64_t bytes = shares ? round_up(storage.bytes, kBrickGroupBytes) : storage.bytes;
      result.intermediate_bytes = std::max(result.intermediate_bytes, offsets[i] + bytes);
      const NetworkWriter::Place in = network.add_intermediate(offsets[i], bytes, storage.name);
      place.id = in.buffer;
      place.base = in.base;
      place.offset = offsets[i];
    } else {
      place.memory = static_cast<int32_t>(i) + 1;
      place.id = storage.kind == Storage::Kind::Input
                     ? network.add_input(storage.bytes, storage.name)
                     : network.add_output(storage.bytes, storage.name);
    }
  }
  StreamBuilder stream;
  LoadedKernel loaded;
  LayerWriter layers(variant, stream, network, places, loaded);
  const std::vector<WeightStripe> none;
  CascadeWriter cascades(variant, program, stream, network, places, loaded, weights);
  for (const Section& section : sections) {
    result.traffic += section.traffic;
    if (section.cascade) {
      cascades.write(*section.cascade);
      result.cascades.push_back(description(program, section));
      continue;
    }
    for (size_t i = section.first; i < section.end; ++i) {
      const LayerPlacement& placement = section.placements[i - section.first];
      layers.write(program.layers[i], placement,
                   program.layers[i].mce ? weights.stripes(i, placement.plan.depth) : none);
    }
  }
  result.buffers = network.buffers();
  result.bytes = network.finish(stream.finish());
  return result;
}

}  // namespace intarsia::targets::ethos_n
