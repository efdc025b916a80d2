#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "build/objects.h"

namespace intarsia::build {
namespace {

// What a function of the C or compiler library may use: they call nothing, or nearly (memcpy, 64-bit
// division); the largest of newlib's and libgcc's for Armv6-M is below this.
constexpr int64_t kLibraryFunctionStack = 96;

// What the compiler calls any call through a pointer.
constexpr std::string_view kIndirectCall = "__indirect_call";
// Who calls devices through a pointer, and what a device's function takes: the runtime's contract.
constexpr std::string_view kRunsDevices = "intarsia_package_run";
constexpr std::string_view kDeviceParameters =
    "(intarsia_device*, const intarsia_stream*, void* const*, ";

struct Function {
  int64_t bytes = kLibraryFunctionStack;
  bool known = false;
  std::string declaration;  // "intarsia_status run(intarsia_device*, ...)" of C++, the name of C
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

// "row_pushes_20": the name of a function whose assembly moves the stack pointer by that number of bytes, of which the compiler
// does not know. Clones of it have more behind the number.
int64_t bytes_pushed_by_assembly(std::string_view title) {
  constexpr std::string_view kMark = "_pushes_";
  const size_t at = title.rfind(kMark);
  if (at == std::string_view::npos) return 0;
  int64_t bytes = 0;
  std::from_chars(title.data() + at + kMark.size(), title.data() + title.size(), bytes);
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
      const std::string_view label = quoted_after(line, "label:");
      if (const auto bytes = stack_of_label(label)) {
        function.bytes = *bytes + bytes_pushed_by_assembly(quoted_after(line, "title:"));
        function.known = true;
        function.declaration = label.substr(0, label.find("\\n"));
      }
    } else if (line.starts_with("edge:")) {
      const std::string callee(quoted_after(line, "targetname:"));
      graph[std::string(quoted_after(line, "sourcename:"))].callees.insert(callee);
      called.insert(callee);
    }
  }
}

// For people: without the mangling that titles have.
std::string name_of(const std::string& title, const Function* function) {
  if (function == nullptr || function->declaration.find('(') == std::string::npos)
    return title.substr(title.rfind(':') + 1);
  const std::string name = function->declaration.substr(0, function->declaration.find('('));
  return name.substr(name.rfind(' ') + 1);
}

class DeepestChain {
 public:
  explicit DeepestChain(const Graph& graph) : graph_(graph) {}

  // Null when the calls are recursive.
  const StackBound* find(const std::string& title) {
    if (const auto done = done_.find(title); done != done_.end()) return &done->second;
    if (!open_.insert(title).second) return nullptr;
    const auto found = graph_.find(title);
    const Function* function = found == graph_.end() ? nullptr : &found->second;
    StackBound result;
    if (function != nullptr)
      for (const std::string& callee : function->callees) {
        const StackBound* below = find(callee);
        if (below == nullptr) return nullptr;
        if (below->bytes > result.bytes) result = *below;
      }
    const int64_t own =
        function != nullptr && function->known ? function->bytes : kLibraryFunctionStack;
    result.bytes += own;
    result.chain.insert(result.chain.begin(), fmt::format("{} {}", name_of(title, function), own));
    open_.erase(title);
    return &done_.emplace(title, std::move(result)).first->second;
  }

 private:
  const Graph& graph_;
  std::map<std::string, StackBound> done_;
  std::set<std::string> open_;
};

bool is_static(const std::string& title) {
  return title.find(':') != std::string::npos;  // "folder/file.c:name"
}

// Calls through a pointer lead to functions that nobody calls by name. The package's call of a device leads to a
// function with a device's parameters; C tells no parameters, so that there a static one qualifies, which the compiler
// only keeps because its address is taken. What else is called through a pointer is never a device: the
// static functions whose address is taken, or a function of the application, which is not the model's.
void resolve_indirect_calls(const std::set<std::string>& called, const std::string& entry,
                            Graph& graph) {
  std::set<std::string> devices, others, any;
  const std::string own = entry.substr(0, entry.rfind('_') + 1);  // <model>_
  for (const auto& [title, function] : graph) {
    if (!function.known || title == entry || called.contains(title)) continue;
    const bool tells = function.declaration.find('(') != std::string::npos;
    if (function.declaration.find(kDeviceParameters) != std::string::npos)
      devices.insert(title);
    else if (is_static(title) && tells)
      others.insert(title);
    else if (is_static(title))
      devices.insert(title), others.insert(title);
    if (!title.starts_with(own)) any.insert(title);
  }
  if (devices.empty()) devices = std::move(any);
  for (auto& [title, function] : graph)
    if (function.callees.erase(std::string(kIndirectCall)) > 0) {
      const std::set<std::string>& targets = title == kRunsDevices ? devices : others;
      function.callees.insert(targets.begin(), targets.end());
      function.callees.erase(title);
    }
}

}  // namespace

Result<StackBound> stack_bound(const std::vector<std::string>& call_graph_texts,
                               const std::string& entry) {
  Graph graph;
  std::set<std::string> called;
  for (const std::string& text : call_graph_texts) read_graph(text, graph, called);
  if (!graph.contains(entry) || !graph[entry].known)
    return Diagnostics("stack bound", fmt::format("the compiler's call graph has no '{}'", entry),
                       "use a GCC that knows -fcallgraph-info=su (10 or later)");
  resolve_indirect_calls(called, entry, graph);
  DeepestChain chains(graph);
  const StackBound* bound = chains.find(entry);
  if (bound == nullptr)
    return Diagnostics("stack bound",
                       fmt::format("functions that '{}' calls call themselves again", entry),
                       "this is a fault of the emitted code, please report it");
  return *bound;
}

}  // namespace intarsia::build
