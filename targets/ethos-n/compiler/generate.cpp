#include "generate.h"

#include <algorithm>

#include "layer_writer.h"
#include "network_writer.h"
#include "placement.h"
#include "transfers.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr int64_t kAlignment = 64;

struct Life {
  size_t first = SIZE_MAX, last = 0;  // layers
};

// What stays in SRAM has none.
std::vector<Life> lives_of(const Program& program, const std::vector<LayerPlacement>& placements) {
  std::vector<Life> lives(program.storages.size());
  for (size_t i = 0; i < program.layers.size(); ++i) {
    const auto use = [&](const FeatureMap& map) {
      Life& life = lives[static_cast<size_t>(map.storage)];
      life.first = std::min(life.first, i);
      life.last = std::max(life.last, i);
    };
    const Layer& layer = program.layers[i];
    for (size_t k = 0; k < layer.inputs.size(); ++k)
      if (!placements[i].input_stays[k]) use(layer.inputs[k]);
    if (!placements[i].output_stays) use(layer.output);
  }
  return lives;
}

// Intermediate buffers share memory when their lives do not overlap: each goes to the lowest place
// where it fits.
std::vector<int64_t> place_intermediates(const Program& program, const std::vector<Life>& lives, int64_t& peak) {
  std::vector<int64_t> offsets(program.storages.size(), 0);
  std::vector<size_t> placed;
  for (size_t i = 0; i < program.storages.size(); ++i) {
    const Storage& storage = program.storages[i];
    if (storage.kind != Storage::Kind::Intermediate || lives[i].first == SIZE_MAX) continue;
    std::vector<size_t> beside;
    for (const size_t other : placed)
      if (lives[i].first <= lives[other].last && lives[other].first <= lives[i].last) beside.push_back(other);
    std::sort(beside.begin(), beside.end(), [&](size_t a, size_t b) { return offsets[a] < offsets[b]; });
    int64_t at = 0;
    for (const size_t other : beside) {
      if (at + storage.bytes <= offsets[other]) break;
      at = std::max(at, round_up(offsets[other] + program.storages[other].bytes, kAlignment));
    }
    offsets[i] = at;
    placed.push_back(i);
    peak = std::max(peak, at + storage.bytes);
  }
  return offsets;
}

}  // namespace

GeneratedNetwork generate(const Variant& variant, const Program& program) {
  GeneratedNetwork result;
  NetworkWriter network;
  const std::vector<LayerPlacement> placements = place_layers(variant, program);
  const std::vector<Life> lives = lives_of(program, placements);
  const std::vector<int64_t> offsets = place_intermediates(program, lives, result.intermediate_bytes);
  std::vector<StoragePlace> places(program.storages.size());
  // Buffers are numbered inputs first, then outputs, as the region has them.
  for (const Storage::Kind kind : {Storage::Kind::Input, Storage::Kind::Output, Storage::Kind::Intermediate})
    for (int32_t parameter = 0; parameter < static_cast<int32_t>(program.storages.size()); ++parameter)
      for (size_t i = 0; i < program.storages.size(); ++i) {
        const Storage& storage = program.storages[i];
        const bool is_turn = kind == Storage::Kind::Intermediate ? static_cast<int32_t>(i) == parameter
                                                                 : storage.parameter == parameter;
        if (storage.kind != kind || !is_turn) continue;
        if (kind == Storage::Kind::Intermediate && lives[i].first == SIZE_MAX) continue;
        StoragePlace& place = places[i];
        place.bytes = storage.bytes;
        if (kind == Storage::Kind::Intermediate) {
          place.memory = 0;
          place.offset = offsets[i];
          place.id = network.add_intermediate(offsets[i], storage.bytes, storage.name);
        } else {
          place.memory = static_cast<int32_t>(i) + 1;
          place.id = kind == Storage::Kind::Input ? network.add_input(storage.bytes, storage.name)
                                                  : network.add_output(storage.bytes, storage.name);
        }
      }
  StreamBuilder stream;
  LayerWriter writer(variant, stream, network, places);
  for (size_t i = 0; i < program.layers.size(); ++i) writer.write(program.layers[i], placements[i]);
  result.bytes = network.finish(stream.finish());
  return result;
}

}  // namespace intarsia::targets::ethos_n
