// docs/operators.md holds the table of operators and types that this test makes from the code: every
// device of a target is asked about random modules of one operator, the very cases that the other
// tests run. INTARSIA_UPDATE_DOCS=1 writes the table anew.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "intarsia/builtin_targets.h"
#include "lowering_testing.h"

namespace intarsia::testing {

namespace {

using graph::OpKind;

constexpr char kBegin[] = "<!-- table: begin -->\n", kEnd[] = "<!-- table: end -->\n";
// This many modules tell whether a device takes all of an operator's forms. Where it takes none of them
// but knows the operator, more are drawn: it may take few forms only.
constexpr size_t kModules = 24, kMoreModules = 1000;

// One column. `takes` says whether the device takes the only operator of the module.
struct Column {
  std::string title;
  std::function<bool(const graph::Module&)> takes;
  std::function<bool(OpKind)> knows = [](OpKind) { return false; };
};

Target device_of(const TargetRegistry& registry, const std::string& text, const std::string& kind) {
  const Result<TargetSpec> spec = parse_target(registry.catalogue(), text);
  EXPECT_TRUE(spec.ok()) << spec.error().to_string();
  for (const Target& device : spec->devices())
    if (device.kind == kind) return device;
  ADD_FAILURE() << text << " has no device of kind " << kind;
  return {};
}

// Whether one of the device's patterns matches the operator and refuses nothing of it.
Column device(const TargetRegistry& registry, std::string title, const std::string& kind) {
  const Target device = device_of(registry, title, kind);
  const auto patterns = registry.kind_of(device).patterns(device);
  return {std::move(title),
          [patterns](const graph::Module& module) {
            for (const Pattern& pattern : patterns) {
              const auto found = match(pattern, module, module.entry_function(), graph::NodeId{0});
              if (found && !(pattern.refuses && pattern.refuses(*found))) return true;
            }
            return false;
          },
          [patterns](OpKind kind) {
            return std::any_of(patterns.begin(), patterns.end(),
                               [&](const Pattern& pattern) { return pattern.root.kind == kind; });
          }};
}

// Whether the core's lowering is another than that of the portable loops.
Column tuned(const TargetRegistry& registry, const std::string& core) {
  const auto program = [&registry](const std::string& text) {
    const Target device = device_of(registry, text, "c");
    return [&registry, device](const graph::Module& module) -> std::string {
      const auto lowered =
          registry.kind_of(device).graph_to_tir(device, module, module.entry_function(), {});
      EXPECT_TRUE(lowered.ok()) << lowered.error().to_string();
      return lowered.ok() ? tir::print(lowered->module) : "";
    };
  };
  const auto made_for_it = program("c -mcpu=" + core),
             portable = program("c -kernels=portable -mcpu=" + core);
  Column column;
  column.title = core;
  column.takes = [=](const graph::Module& module) {
    return made_for_it(module) != portable(module);
  };
  return column;
}

// Operators that take whatever their operands are, each in one module.
graph::Module of_any_type(OpKind kind, DataType type) {
  const std::string_view element = to_string(type);
  const std::string quantised = type == DataType::Float32 ? "" : " q(0.5)";
  const auto tensor = [&](const char* name) {
    return fmt::format("{}: {}[4]{}", name, element, quantised);
  };
  std::string text = "intarsia.graph m\n";
  if (kind == OpKind::If) {
    text += fmt::format(R"(func @main(%0, %1) -> (%2) {{ %0 flag: bool[1] %1 {0} %2 {1}
  if node(%0, %1) -> (%2) {{then_branch=same, else_branch=other}} }}
func @same(%0) -> (%1) {{ %0 {0} %1 {1} relu r(%0) -> (%1) }}
func @other(%0) -> (%0) {{ %0 {0} }}
)",
                        tensor("x"), tensor("y"));
  } else if (kind == OpKind::While) {
    text += fmt::format(R"(const @0 zero = i32[0]
const @1 one = i32[1]
const @2 limit = i32[3]
func @main(%1) -> (%3) {{ %0 first: i32[] = @0 %1 {0} %2 last: i32[] %3 {1}
  while node(%0, %1) -> (%2, %3) {{condition=goes_on, body=next}} }}
func @goes_on(%0, %1) -> (%3) {{ %0 i: i32[] %1 {0} %2 limit: i32[] = @2 %3 less: bool[]
  less compare(%0, %2) -> (%3) }}
func @next(%0, %1) -> (%3, %4) {{ %0 i: i32[] %1 {0} %2 one: i32[] = @1 %3 ni: i32[] %4 {1}
  add count(%0, %2) -> (%3)
  relu r(%1) -> (%4) }}
)",
                        tensor("x"), tensor("y"));
  } else {
    const bool reads = kind == OpKind::ReadVariable;
    text += reads ? fmt::format(
                        "func @main() -> (%1) {{ %0 {} variable %1 {} read_variable node(%0) -> "
                        "(%1) }}\n",
                        tensor("state"), tensor("y"))
                  : fmt::format(
                        "func @main(%0) -> () {{ %0 {} %1 {} variable assign_variable node(%0) -> "
                        "(%1) }}\n",
                        tensor("x"), tensor("state"));
  }
  const Result<graph::Module> module = graph::parse(text + "entry @main\n");
  EXPECT_TRUE(module.ok()) << module.error().to_string() << text;
  const Result<void> sound = graph::verify(*module);
  EXPECT_TRUE(sound.ok()) << sound.error().to_string() << text;
  return *module;
}

bool is_of_any_type(OpKind kind) {
  return kind == OpKind::ReadVariable || kind == OpKind::AssignVariable || kind == OpKind::If ||
         kind == OpKind::While;
}

std::vector<graph::Module> modules_of(const Case& c, size_t count) {
  if (is_of_any_type(c.kind)) return {of_any_type(c.kind, c.type)};
  std::vector<graph::Module> modules;
  Random random(1);
  while (modules.size() < count) modules.push_back(lowerable_operator(random, c));
  return modules;
}

std::string table_text() {
  TargetRegistry registry;
  add_builtin_targets(registry);
  // What the reference evaluator and the portable lowering take is what the cases are: operators_test
  // compares the results of both.
  std::vector<Column> columns(1);
  columns[0].title = "evaluator, C";
  columns[0].takes = [](const graph::Module& module) {
    const graph::Function& function = module.entry_function();
    return !standard_lowering_refuses(module, function, function.nodes[0]);
  };
  for (const char* core : {"cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55"})
    columns.push_back(tuned(registry, core));
  for (const char* npu : {"ethos-u55-128", "ethos-u65-256"})
    columns.push_back(device(registry, npu, "ethos-u"));
  columns.push_back(device(registry, "ethos-n78-4tops-4ple", "ethosn"));
  columns.push_back(device(registry, "c + opencl", "opencl"));
  columns.back().title = "opencl";

  std::map<OpKind, std::set<DataType>> types;
  std::vector<Case> cases = supported_cases();
  const std::vector<Case> more = cases_of_many_results();
  cases.insert(cases.end(), more.begin(), more.end());
  for (const Case& c : cases) types[c.kind].insert(c.type);

  std::string text = "| operator |", rule = "|---|";
  for (const Column& column : columns) text += " " + column.title + " |", rule += "---|";
  text += "\n" + rule + "\n";
  const OpKind kinds[] = {
#define OP(name, text, attrs, least, most, outputs) OpKind::name,
#include "intarsia/graph/op_kinds.def"
#undef OP
  };
  for (const OpKind kind : kinds) {
    if (kind == OpKind::Call || kind == OpKind::Compiled) continue;
    if (is_of_any_type(kind)) types[kind] = {DataType::Int8, DataType::Int16, DataType::Float32};
    EXPECT_FALSE(types[kind].empty()) << to_string(kind) << " is in no case";
    std::vector<std::string> cells(columns.size());
    for (const DataType type : types[kind]) {
      const std::vector<graph::Module> modules = modules_of({kind, type}, kModules);
      std::vector<graph::Module> more_modules;
      for (size_t i = 0; i < columns.size(); ++i) {
        const auto taken = std::ranges::count_if(modules, columns[i].takes);
        const bool all = taken == static_cast<int64_t>(modules.size());
        if (taken == 0) {
          if (!columns[i].knows(kind)) continue;
          if (more_modules.empty()) more_modules = modules_of({kind, type}, kMoreModules);
          if (std::ranges::none_of(more_modules, columns[i].takes)) continue;
        }
        if (!cells[i].empty()) cells[i] += " ";
        cells[i] += fmt::format(fmt::runtime(all ? "{}" : "({})"), to_string(type));
      }
    }
    text += "| " + std::string(to_string(kind)) + " |";
    for (const std::string& cell : cells) text += cell.empty() ? " |" : " " + cell + " |";
    text += "\n";
  }
  return text;
}

TEST(OperatorsTable, IsInTheDocumentation) {
  const std::string path = std::string(INTARSIA_SOURCE_DIR) + "/docs/operators.md";
  std::ifstream in(path);
  std::string document{std::istreambuf_iterator<char>(in), {}};
  const size_t begin = document.find(kBegin), end = document.find(kEnd);
  ASSERT_NE(begin, std::string::npos) << path;
  ASSERT_NE(end, std::string::npos) << path;
  const size_t first = begin + sizeof kBegin - 1;
  const std::string expected = table_text();
  if (std::getenv("INTARSIA_UPDATE_DOCS") != nullptr) {
    document.replace(first, end - first, expected);
    std::ofstream(path) << document;
    return;
  }
  EXPECT_EQ(document.substr(first, end - first), expected)
      << "run with INTARSIA_UPDATE_DOCS=1 to write the table anew";
}

}  // namespace

}  // namespace intarsia::testing
