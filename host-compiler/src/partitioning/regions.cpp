#include "partitioning/regions.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace intarsia::partitioning {

namespace {

// What may run next, by device and in the model's order.
class ReadyNodes {
 public:
  ReadyNodes(const graph::Function& function, const Assignment& assignment)
      : assignment_(assignment), followers_(function.nodes.size()), waits_(function.nodes.size()) {
    std::map<int32_t, size_t> writer;
    for (size_t n = 0; n < function.nodes.size(); ++n)
      for (const graph::TensorId id : function.nodes[n].outputs) writer[id.index] = n;
    std::set<std::pair<size_t, size_t>> known;
    const auto follows = [&](size_t later, size_t earlier) {
      if (!known.insert({earlier, later}).second) return;
      followers_[earlier].push_back(later);
      ++waits_[later];
    };
    // Programs that another compiler made have tensors at places that follow from the model's order.
    const bool keeps_order = std::ranges::any_of(function.nodes, [](const graph::Node& node) {
      return node.kind == graph::OpKind::Compiled;
    });
    for (size_t n = 1; keeps_order && n < function.nodes.size(); ++n) follows(n, n - 1);
    for (size_t n = 0; n < function.nodes.size(); ++n)
      for (const graph::TensorId id : function.nodes[n].inputs) {
        const auto written = id.valid() ? writer.find(id.index) : writer.end();
        if (written == writer.end()) continue;
        // What a variable held before is read before it is written again.
        if (written->second < n) follows(n, written->second);
        if (written->second > n) follows(written->second, n);
      }
    for (size_t n = 0; n < waits_.size(); ++n)
      if (waits_[n] == 0) ready_[assignment_[n]].insert(n);
  }

  int first_of(int device) const {  // negative: none
    const auto found = ready_.find(device);
    return found == ready_.end() || found->second.empty()
               ? -1
               : static_cast<int>(*found->second.begin());
  }
  int first() const {
    int first = -1;
    for (const auto& [device, nodes] : ready_)
      if (!nodes.empty() && (first < 0 || static_cast<int>(*nodes.begin()) < first))
        first = static_cast<int>(*nodes.begin());
    return first;
  }
  void run(int node) {
    const size_t n = static_cast<size_t>(node);
    ready_[assignment_[n]].erase(n);
    for (const size_t follower : followers_[n])
      if (--waits_[follower] == 0) ready_[assignment_[follower]].insert(follower);
  }

 private:
  const Assignment& assignment_;
  std::vector<std::vector<size_t>> followers_;
  std::vector<size_t> waits_;
  std::map<int, std::set<size_t>> ready_;
};

}  // namespace

std::vector<Region> make_regions(const graph::Function& function, const Assignment& assignment) {
  // A program that another compiler made stays by itself.
  const auto is_alone = [&](int n) {
    return function.nodes[static_cast<size_t>(n)].kind == graph::OpKind::Compiled;
  };
  ReadyNodes ready(function, assignment);
  std::vector<Region> regions;
  for (size_t scheduled = 0; scheduled < function.nodes.size(); ++scheduled) {
    int next = regions.empty() ? -1 : ready.first_of(regions.back().device);
    if (next >= 0 && (is_alone(next) || is_alone(regions.back().nodes.back().index)))
      regions.push_back({regions.back().device, {}});
    if (next < 0) {
      next = ready.first();
      INTARSIA_CHECK(next >= 0, "a verified function has an executable order");
      regions.push_back({assignment[static_cast<size_t>(next)], {}});
    }
    regions.back().nodes.push_back(graph::NodeId{next});
    ready.run(next);
  }
  return regions;
}

int64_t count_boundaries(const graph::Function& function, const std::vector<Region>& regions) {
  constexpr int kHost = 0;
  struct Writer {
    size_t region;  // 0 is the caller before the regions
    int device;
  };
  std::map<int32_t, Writer> writers;
  std::set<std::pair<size_t, size_t>> boundaries;
  for (const graph::TensorId id : function.inputs) writers[id.index] = {0, kHost};
  const auto read = [&](graph::TensorId id, size_t region, int device) {
    const auto writer = writers.find(id.index);
    if (writer != writers.end() && writer->second.device != device)
      boundaries.insert({writer->second.region, region});
  };
  for (size_t r = 0; r < regions.size(); ++r)
    for (const graph::NodeId id : regions[r].nodes) {
      const graph::Node& node = function.nodes[id.at()];
      for (const graph::TensorId operand : node.inputs) read(operand, r + 1, regions[r].device);
      for (const graph::TensorId result : node.outputs)
        writers[result.index] = {r + 1, regions[r].device};
    }
  for (const graph::TensorId id : function.outputs) read(id, regions.size() + 1, kHost);
  return static_cast<int64_t>(boundaries.size());
}

}  // namespace intarsia::partitioning
