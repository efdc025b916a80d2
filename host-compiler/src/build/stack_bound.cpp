#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "build/objects.h"

namespace intarsia::build {
namespace {

// What a function of the C or compiler library may use: they are leaves or nearly (memcpy, 64-bit
// division); the largest of newlib's and libgcc's for Armv6-M is below this.
constexpr int64_t kLibraryFunctionStack = 96;

struct Function {
  int64_t bytes = kLibraryFunctionStack;
  bool known = false;
  std::set<std::string> callees;
};

// The value of `key: "..."` in a line of GCC's VCG format, or nothing.
std::string_view quoted_after(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  const size_t begin = line.find('"', at + key.size());
  if (begin == std::string_view::npos) return {};
  const size_t end = line.find('"', begin + 1);
  if (end == std::string_view::npos) return {};
  return line.substr(begin + 1, end - begin - 1);
}

// "...\n40 bytes (static)\n...": the number before " bytes".
std::optional<int64_t> stack_of_label(std::string_view label) {
  const size_t at = label.find(" bytes (");
  if (at == std::string_view::npos) return std::nullopt;
  const size_t begin = label.rfind('n', at) + 1;  // behind the "\n" escape
  int64_t bytes = 0;
  const auto [end, error] = std::from_chars(label.data() + begin, label.data() + at, bytes);
  if (error != std::errc() || end != label.data() + at) return std::nullopt;
  return bytes;
}

using Graph = std::map<std::string, Function, std::less<>>;

void read_graph(std::string_view text, Graph& graph, std::set<std::string>& called) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("node:")) {
      Function& function = graph[std::string(quoted_after(line, "title:"))];
      if (const auto bytes = stack_of_label(quoted_after(line, "label:")))
        function.bytes = *bytes, function.known = true;
    } else if (line.starts_with("edge:")) {
      const std::string callee(quoted_after(line, "targetname:"));
      graph[std::string(quoted_after(line, "sourcename:"))].callees.insert(callee);
      called.insert(callee);
    }
  }
}

class DeepestChain {
 public:
  explicit DeepestChain(const Graph& graph) : graph_(graph) {}

  // False when the calls are recursive.
  bool find(const std::string& name, StackBound& result) {
    if (!open_.insert(name).second) return false;
    const auto found = graph_.find(name);
    StackBound deepest;
    if (found != graph_.end())
      for (const std::string& callee : found->second.callees) {
        auto [memo, fresh] = memo_.try_emplace(callee);
        if (fresh && !find(callee, memo->second)) return false;
        if (memo->second.bytes > deepest.bytes) deepest = memo->second;
      }
    const bool known = found != graph_.end() && found->second.known;
    const int64_t own = known ? found->second.bytes : kLibraryFunctionStack;
    result.bytes = own + deepest.bytes;
    result.chain = {fmt::format("{} {}", name.substr(name.rfind(':') + 1), own)};
    result.chain.insert(result.chain.end(), deepest.chain.begin(), deepest.chain.end());
    open_.erase(name);
    return true;
  }

 private:
  const Graph& graph_;
  std::map<std::string, StackBound> memo_;
  std::set<std::string> open_;
};

}  // namespace

Result<StackBound> stack_bound(const std::vector<std::string>& call_graph_texts,
                               const std::string& entry) {
  Graph graph;
  std::set<std::string> called;
  for (const std::string& text : call_graph_texts) read_graph(text, graph, called);
  if (!graph.contains(entry) || !graph[entry].known)
    return Diagnostics("stack bound", fmt::format("the compiler's call graph has no '{}'", entry),
                       "use a GCC that knows -fcallgraph-info=su (10 or later)");
  // A call through a pointer may reach any function that nobody calls by name (drivers are installed
  // by address); the deepest of them is counted.
  if (const auto indirect = graph.find("__indirect_call"); indirect != graph.end()) {
    indirect->second.bytes = 0;
    indirect->second.known = true;
    for (const auto& [name, function] : graph)
      if (function.known && name != entry && name != "__indirect_call" && !called.contains(name) &&
          !name.starts_with(entry.substr(0, entry.rfind('_') + 1)))
        indirect->second.callees.insert(name);
  }
  StackBound result;
  if (!DeepestChain(graph).find(entry, result))
    return Diagnostics("stack bound",
                       fmt::format("'{}' calls itself through other functions", entry),
                       "this is a fault of the emitted code, please report it");
  return result;
}

}  // namespace intarsia::build
