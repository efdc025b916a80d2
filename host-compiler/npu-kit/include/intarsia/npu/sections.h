// The cheapest way to cut a list of operations into sections that run one after another, as cascades and single
// operations do.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "intarsia/plugin/check.h"

namespace intarsia::npu {

// Collects ways to run operations first .. end - 1 as one section. Sections are offered from the first operation on:
//
//   SectionCutter<Section, Cost> cutter(operations);
//   for (size_t first = 0; first < operations; ++first)
//     if (cutter.is_reached(first)) cutter.offer(first, end, cost, section) for every section that begins there
//   sections = cutter.finish();
//
// `Cost` is added with += and compared by the order that `Less` gives; Cost() costs nothing. Of equals the first that
// was offered stays.
template <typename Section, typename Cost, typename Less>
class SectionCutter {
 public:
  SectionCutter(size_t operations, Less less) : less_(std::move(less)), ways_(operations + 1) {
    ways_[0].is_reached = true;
  }

  // Whether the operations before can be cut so that a section ends here.
  bool is_reached(size_t first) const { return ways_[first].is_reached; }

  // `first` is reached, and behind it is `end`.
  void offer(size_t first, size_t end, const Cost& cost, Section section) {
    INTARSIA_CHECK(first < end && ways_[first].is_reached, "sections follow each other");
    Way& way = ways_[end];
    Cost total = ways_[first].total;
    total += cost;
    if (way.is_reached && !less_(total, way.total)) return;
    way.is_reached = true;
    way.total = total;
    way.first = first;
    way.section.emplace(std::move(section));
  }

  // The sections that cost least together, in order; the end has to be reached.
  std::vector<Section> finish() {
    INTARSIA_CHECK(ways_.back().is_reached, "some section ends behind the last operation");
    std::vector<Section> sections;
    for (size_t end = ways_.size() - 1; end > 0; end = ways_[end].first)
      sections.push_back(*std::move(ways_[end].section));
    return {std::make_move_iterator(sections.rbegin()), std::make_move_iterator(sections.rend())};
  }

 private:
  struct Way {
    bool is_reached = false;
    Cost total{};  // from the beginning
    size_t first = 0;
    std::optional<Section> section;  // the last one
  };

  Less less_;
  std::vector<Way> ways_;  // by where they end
};

}  // namespace intarsia::npu
