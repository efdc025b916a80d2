#include "schedule/sections.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "commands/mce_registers.h"
#include "intarsia/npu/sections.h"
#include "schedule/cascade_shape.h"
#include "schedule/cascade_steps.h"

namespace intarsia::targets::ethos_n {
namespace {

// Longer cascades that do not fit are not looked for behind this many that did not.
constexpr int kPatience = 2;
// Layers of a section, so that the work grows with the length of a network and not with its square: where the rows of more
// layers than these would fit together, one map in this many goes to DRAM and back.
constexpr size_t kMostLayers = 48;

class Cutter {
 public:
  Cutter(const Variant& variant, const Program& program, WeightStore& weights)
      : variant_(variant),
        program_(program),
        weights_(weights),
        feeds_next_(feeds_next_only(program)) {
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
    const auto costs_less = [counts_commands](const Traffic& one, const Traffic& other) {
      return cost(one, counts_commands) < cost(other, counts_commands);
    };
    Sections found(program_.layers.size(), costs_less);
    for (size_t first = 0; first < program_.layers.size(); ++first) {
      if (!found.is_reached(first)) continue;
      add_placed(first, found);
      if (allows_cascades) add_cascades(first, found);
    }
    std::vector<Section> sections = found.finish();
    for (Section& section : sections)
      if (section.cascade)
        place_cascade(variant_, program_, *section.cascade, weights_, true);
      else
        section.placements = placed(section.first, section.end);
    return sections;
  }

 private:
  using Sections =
      npu::SectionCutter<Section, Traffic, std::function<bool(const Traffic&, const Traffic&)>>;

  // Equal bytes: the fewer stripes.
  static std::pair<int64_t, int64_t> cost(const Traffic& traffic, bool counts_commands) {
    return {counts_commands ? traffic.with_commands() : traffic.bytes, traffic.stripes};
  }
  static void offer(Section section, Sections& sections) {
    const size_t first = section.first, end = section.end;
    const Traffic traffic = section.traffic;
    sections.offer(first, end, traffic, std::move(section));
  }

  std::vector<LayerPlacement> placed(size_t first, size_t end) const {
    return place_layers(variant_, program_, plans_, feeds_next_, first, end);
  }

  // One layer after another; it may end wherever nothing stays in SRAM.
  void add_placed(size_t first, Sections& sections) const {
    const size_t most = std::min(program_.layers.size(), first + kMostLayers);
    const std::vector<LayerPlacement> placements = placed(first, most);
    Traffic traffic;
    for (size_t i = first; i < most; ++i) {
      const Layer& layer = program_.layers[i];
      const LayerPlacement& placement = placements[i - first];
      traffic +=
          traffic_of(layer, i, placement, weights_, layer.ple && before_[i] != &kernel_for(layer));
      if (!placement.output_stays) offer({first, i + 1, std::nullopt, {}, traffic}, sections);
    }
  }

  void add_cascades(size_t first, Sections& sections) const {
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
      offer({first, end, std::move(cascade), {}, traffic}, sections);
    }
  }

  const Variant& variant_;
  const Program& program_;
  WeightStore& weights_;
  std::vector<StripePlan> plans_;
  std::vector<const PleKernel*> before_;
  std::vector<bool> feeds_next_;
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
