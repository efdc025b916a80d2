#include "partition/regions.h"

#include <algorithm>
#include <map>
#include <set>

namespace intarsia::partitioning {

std::vector<Region> make_regions(const graph::Function& function, const Assignment& assignment) {
  const size_t count = function.nodes.size();
  std::map<int32_t, size_t> writer;
  for (size_t n = 0; n < count; ++n)
    for (const graph::TensorId id : function.nodes[n].outputs) writer[id.index] = n;

  std::vector<std::set<size_t>> waits_for(count);
  for (size_t n = 0; n < count; ++n)
    for (const graph::TensorId id : function.nodes[n].inputs)
      if (id.valid() && writer.contains(id.index)) {
        const size_t w = writer[id.index];
        // What a variable held before is read before it is written again.
        if (w < n) waits_for[n].insert(w);
        if (w > n) waits_for[w].insert(n);
      }

  std::vector<bool> done(count, false);
  const auto next_ready = [&](int member) -> int {  // any member when negative
    for (size_t n = 0; n < count; ++n)
      if (!done[n] && (member < 0 || assignment[n] == member) &&
          std::all_of(waits_for[n].begin(), waits_for[n].end(), [&](size_t w) { return done[w]; }))
        return static_cast<int>(n);
    return -1;
  };

  std::vector<Region> regions;
  for (size_t scheduled = 0; scheduled < count; ++scheduled) {
    // A program that another compiler made stays by itself.
    const auto is_alone = [&](int n) {
      return function.nodes[static_cast<size_t>(n)].kind == graph::OpKind::Compiled;
    };
    int next = regions.empty() ? -1 : next_ready(regions.back().member);
    if (next >= 0 && (is_alone(next) || is_alone(regions.back().nodes.back().index)))
      regions.push_back({regions.back().member, {}});
    if (next < 0) {
      next = next_ready(-1);
      INTARSIA_CHECK(next >= 0, "a verified function has an executable order");
      regions.push_back({assignment[static_cast<size_t>(next)], {}});
    }
    regions.back().nodes.push_back(graph::NodeId{next});
    done[static_cast<size_t>(next)] = true;
  }
  return regions;
}

int64_t count_boundaries(const graph::Function& function, const std::vector<Region>& regions) {
  constexpr int kHost = 0;
  struct Writer {
    size_t region;  // 0 is the caller before the regions
    int member;
  };
  std::map<int32_t, Writer> writers;
  std::set<std::pair<size_t, size_t>> boundaries;
  for (const graph::TensorId id : function.inputs) writers[id.index] = {0, kHost};
  const auto read = [&](graph::TensorId id, size_t region, int member) {
    const auto writer = writers.find(id.index);
    if (writer != writers.end() && writer->second.member != member)
      boundaries.insert({writer->second.region, region});
  };
  for (size_t r = 0; r < regions.size(); ++r)
    for (const graph::NodeId id : regions[r].nodes) {
      const graph::Node& node = function.nodes[id.at()];
      for (const graph::TensorId operand : node.inputs) read(operand, r + 1, regions[r].member);
      for (const graph::TensorId result : node.outputs)
        writers[result.index] = {r + 1, regions[r].member};
    }
  for (const graph::TensorId id : function.outputs) read(id, regions.size() + 1, kHost);
  return static_cast<int64_t>(boundaries.size());
}

}  // namespace intarsia::partitioning
