#include "sections.h"

#include <algorithm>

#include "cascade_shape.h"
#include "mce_registers.h"

namespace intarsia::targets::ethos_n {
namespace {

// Longer cascades that do not fit are not looked for behind so many that did not.
constexpr int kPatience = 2;
// Layers of a section, so that the work grows with the length of a network and not with its square: where the rows of more
// layers than these would fit together, one map in so many goes to DRAM and back.
constexpr size_t kMostLayers = 48;

class Cutter {
 public:
  Cutter(const Variant& variant, const Program& program, WeightStore& weights)
      : variant_(variant),
        program_(program),
        weights_(weights),
        feeds_next_(feeds_next_only(program)),
        best_(program.layers.size() + 1) {
    // The kernel of the last layer before, whatever the sections are.
    const PleKernel* kernel = nullptr;
    for (const Layer& layer : program.layers) {
      before_.push_back(kernel);
      if (layer.ple) kernel = &kernel_for(layer);
      const std::optional<StripePlan> plan = plan_stripes(variant, layer);
      INTARSIA_CHECK(plan.has_value(), "layers that do not fit are refused before");
      plans_.push_back(*plan);
    }
  }

  std::vector<Section> run(bool allows_cascades, bool counts_commands) {
    counts_commands_ = counts_commands;
    for (Way& way : best_) way = {};
    const size_t layers = program_.layers.size();
    best_[0].is_reached = true;
    for (size_t first = 0; first < layers; ++first) {
      if (!best_[first].is_reached) continue;
      add_placed(first);
      if (allows_cascades) add_cascades(first);
    }
    std::vector<Section> sections;
    for (size_t end = layers; end > 0; end = sections.back().first)
      sections.push_back(std::move(best_[end].section));
    for (Section& section : sections)
      if (!section.cascade) section.placements = placed(section.first, section.end);
    return {sections.rbegin(), sections.rend()};
  }

 private:
  struct Way {
    bool is_reached = false;
    Traffic traffic;  // from the beginning
    Section section;  // the last one
  };

  // Equal bytes: the fewer stripes.
  std::pair<int64_t, int64_t> cost(const Traffic& traffic) const {
    return {counts_commands_ ? traffic.with_commands() : traffic.bytes, traffic.stripes};
  }

  void offer(Section section) {
    Way& way = best_[section.end];
    Traffic total = best_[section.first].traffic;
    total += section.traffic;
    if (way.is_reached && cost(way.traffic) <= cost(total)) return;
    way.is_reached = true;
    way.traffic = total;
    way.section = std::move(section);
  }

  std::vector<LayerPlacement> placed(size_t first, size_t end) const {
    return place_layers(variant_, program_, plans_, feeds_next_, first, end);
  }

  // One layer after another; it may end wherever nothing stays in SRAM.
  void add_placed(size_t first) {
    const size_t most = std::min(program_.layers.size(), first + kMostLayers);
    const std::vector<LayerPlacement> placements = placed(first, most);
    Traffic traffic;
    for (size_t i = first; i < most; ++i) {
      const Layer& layer = program_.layers[i];
      const LayerPlacement& placement = placements[i - first];
      traffic +=
          traffic_of(layer, i, placement, weights_, layer.ple && before_[i] != &kernel_for(layer));
      if (!placement.output_stays) offer({first, i + 1, std::nullopt, {}, traffic});
    }
  }

  void add_cascades(size_t first) {
    int failures = 0;
    const size_t most = std::min(program_.layers.size(), first + kMostLayers);
    for (size_t end = first + 1; end <= most && failures < kPatience; ++end) {
      // Nothing that is longer has a shape either.
      if (!shape_of(program_, first, end)) return;
      std::optional<Cascade> cascade =
          plan_cascade(variant_, program_, first, end, before_[first], weights_);
      if (!cascade) {
        ++failures;
        continue;
      }
      failures = 0;
      const Traffic traffic = cascade->traffic;
      offer({first, end, std::move(cascade), {}, traffic});
    }
  }

  const Variant& variant_;
  const Program& program_;
  WeightStore& weights_;
  std::vector<StripePlan> plans_;
  std::vector<const PleKernel*> before_;
  std::vector<bool> feeds_next_;
  std::vector<Way> best_;  // by where it ends
  bool counts_commands_ = false;
};

int64_t bytes_of(const std::vector<Section>& sections) {
  int64_t bytes = 0;
  for (const Section& section : sections) bytes += section.traffic.bytes;
  return bytes;
}

}  // namespace

std::vector<Section> cut_into_sections(const Variant& variant, const Program& program,
                                       WeightStore& weights) {
  Cutter cutter(variant, program, weights);
  const int64_t most = bytes_of(cutter.run(false, false));
  std::vector<Section> sections = cutter.run(true, true);
  // Fewer commands are not worth more bytes than without any of this.
  return bytes_of(sections) <= most ? std::move(sections) : cutter.run(true, false);
}

std::vector<Section> cut_into_layers(const Variant& variant, const Program& program,
                                     WeightStore& weights) {
  return Cutter(variant, program, weights).run(false, false);
}

}  // namespace intarsia::targets::ethos_n
