// What a report says about the plan and the graph, against the plan and the graph themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include <nlohmann/json.hpp>

#include "large_models.h"
#include "packaging/rows_on_lines.h"
#include "report_testing.h"

namespace intarsia::test {
namespace {

using Json = nlohmann::ordered_json;

const OperatorRow* operator_named(const Report& report, const std::string& name) {
  for (const OperatorRow& row : report.operators)
    if (row.name == name) return &row;
  return nullptr;
}

const BufferRow& buffer_of_tensor(const Report& report, const std::string& tensor) {
  for (const BufferRow& row : report.buffers)
    if (row.tensor == tensor) return row;
  ADD_FAILURE() << "no buffer holds " << tensor;
  static const BufferRow none;
  return none;
}

// Buffers are the plan's, the steps lie side by side, and names are those of rows.
void expect_sound_rows(const Made& made) {
  const Plan& plan = made.model.program().plan;
  const Report& report = made.report;
  EXPECT_EQ(report.steps, plan.steps);
  ASSERT_EQ(report.buffers.size(), plan.placements.size());
  for (size_t i = 0; i < plan.placements.size(); ++i) {
    const Placement& place = plan.placements[i];
    const BufferRow& row = report.buffers[i];
    EXPECT_EQ(row.begin, place.offset);
    EXPECT_EQ(row.end, place.offset + place.bytes);
    EXPECT_EQ(row.first_step, place.first_step);
    EXPECT_EQ(row.last_step, place.last_step);
    EXPECT_EQ(row.pool, plan.memory.pools[static_cast<size_t>(place.pool)].name);
    EXPECT_EQ(row.written_by.empty(), row.use == "input") << row.name;
    if (!row.written_by.empty()) {
      EXPECT_NE(operator_named(report, row.written_by), nullptr) << row.written_by;
    }
    for (const std::string& name : row.read_by)
      EXPECT_NE(operator_named(report, name), nullptr) << name;
  }
  int64_t next = 0;
  for (const StepRow& row : report.step_rows) {
    EXPECT_EQ(row.first, next);
    EXPECT_GE(row.last, row.first);
    const OperatorRow* each = operator_named(report, row.name);
    ASSERT_NE(each, nullptr) << row.name;
    EXPECT_EQ(row.device, each->device);
    next = row.last + 1;
  }
  EXPECT_EQ(next, report.steps);
  for (const OperatorRow& row : report.operators) {
    int64_t bytes = 0;
    for (const auto& constant : row.constants) bytes += constant.bytes;
    EXPECT_EQ(bytes, row.weight_bytes + row.table_bytes) << row.name;
  }
}

// The edges of the imported graph, each once, whoever runs the operators.
void expect_same_graph(const Made& made) {
  const graph::Function& main = made.model.reduced.module.entry_function();
  std::multiset<std::string> expected, found;
  const auto maker = [&](graph::TensorId id) {
    for (const graph::Node& node : main.nodes)
      if (std::find(node.outputs.begin(), node.outputs.end(), id) != node.outputs.end())
        return node.name;
    return std::string();
  };
  for (const graph::Node& node : main.nodes)
    for (const graph::TensorId id : node.inputs)
      if (id.valid() && !main.tensor(id).constant.valid())
        expected.insert(maker(id) + " > " + node.name);
  for (const graph::TensorId id : main.outputs) expected.insert(maker(id) + " > ");
  for (const GraphEdge& edge : made.report.edges) {
    found.insert(edge.from + " > " + edge.to);
    EXPECT_GT(edge.bytes, 0);
  }
  EXPECT_EQ(found, expected);
  ASSERT_EQ(made.report.graph.size(), main.nodes.size());
  for (const GraphRow& row : made.report.graph)
    EXPECT_TRUE(std::any_of(main.nodes.begin(), main.nodes.end(), [&](const graph::Node& node) {
      return node.name == row.name && graph::to_string(node.kind) == row.kind;
    })) << row.name;
}

TEST(ReportPlan, OfACpu) {
  const Made made = digits_on("c");
  expect_sound_rows(made);
  expect_same_graph(made);
  const BufferRow& image = buffer_of_tensor(made.report, "image");
  EXPECT_EQ(image.use, "input");
  EXPECT_EQ(image.read_by, std::vector<std::string>{"stem"});
  const BufferRow& scores = buffer_of_tensor(made.report, "scores");
  EXPECT_EQ(scores.use, "output");
  EXPECT_EQ(scores.written_by, "scores");
  const BufferRow& widen = buffer_of_tensor(made.report, "widen");
  EXPECT_EQ(widen.use, "tensor");
  EXPECT_EQ(widen.read_by, (std::vector<std::string>{"block2_depthwise", "block2_add"}));
}

TEST(ReportPlan, OfStreamsBesideACpu) {
  const Made made = digits_on("cortex-m55+ethos-u55-128", {{"widen", "c"}});
  expect_sound_rows(made);
  expect_same_graph(made);
  // Between the two streams, and inside of one of them.
  EXPECT_EQ(buffer_of_tensor(made.report, "widen").written_by, "widen");
  EXPECT_EQ(buffer_of_tensor(made.report, "average_pool").read_by,
            std::vector<std::string>{"classifier"});
  EXPECT_EQ(operator_named(made.report, "widen")->placement,
            "ethos-u could run it: the operator is pinned to c");
}

// Branches and bodies of loops are functions of their own, whose operators may have one name.
TEST(ReportPlan, OperatorsInsideOfBranchesAndLoopsHaveKindsToo) {
  using Rows = std::vector<std::array<std::string, 4>>;  // name, kind, shapes, function
  const auto rows_of = [](const char* name) {
    const Made made = file_on(std::string("tests/golden/operators/") + name + "/model.tflite", "c");
    Rows rows;
    for (const OperatorRow& row : made.report.operators)
      rows.push_back({row.name, row.kind, row.shapes, row.region});
    return rows;
  };
  const std::string two = "f32[2,3], f32[2,3] -> f32[2,3]";
  EXPECT_EQ(rows_of("if_chooses"), (Rows{{"t2", "add", two, "plus"}, {"t2", "mul", two, "minus"}}));
  EXPECT_EQ(rows_of("while_counts"), (Rows{{"t1_begin0", "copy", "", ""},
                                           {"t1_begin1", "copy", "", ""},
                                           {"t2", "add", "i32[1] -> i32[1]", "body"},
                                           {"t3", "add", "f32[2], f32[2] -> f32[2]", "body"},
                                           {"t1_next0", "copy", "", ""},
                                           {"t1_next1", "copy", "", ""}}));
}

// In-place pairs and reshapes name whose bytes they share.
TEST(ReportPlan, SharedBytesAreNamed) {
  for (const char* target : {"c", "cortex-m55+ethos-u55-128"}) {
    const Made made = digits_on(target);
    const Plan& plan = made.model.program().plan;
    for (size_t i = 0; i < plan.placements.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (plan.placements[i].group == plan.placements[j].group) {
          EXPECT_FALSE(made.report.buffers[i].alias.empty()) << made.report.buffers[i].name;
        }
    for (const BufferRow& row : made.report.buffers) EXPECT_NE(row.alias, row.name);
  }
}

// Alone, an operator of a stream takes what the device's estimate says of it; a CPU's rows are the sums' own.
TEST(ReportPlan, EstimatesOfSingleOperators) {
  const Made made = digits_on("cortex-m55+ethos-u55-128", {{"widen", "c"}});
  std::map<std::string, int64_t> alone;
  for (const OperatorRow& row : made.report.operators) {
    ASSERT_TRUE(row.cycles_alone.has_value()) << row.name;
    alone[row.region] += *row.cycles_alone;
  }
  ASSERT_FALSE(made.report.cycles.empty());
  for (const CycleRow& row : made.report.cycles) {
    if (row.device == "c") {
      EXPECT_EQ(row.cycles, alone["main_c_0"]);
    } else {
      EXPECT_GE(alone[row.name], row.cycles) << row.name;
    }
  }
}

TEST(ReportPlan, OfAThousandOperators) {
  const std::vector<uint8_t> bytes = build(sums_of(1000));
  const Made made = made_on(bytes, "sums.tflite", "c");
  ASSERT_EQ(made.report.operators.size(), 1000u);
  expect_sound_rows(made);
  EXPECT_EQ(made.report.graph.size(), 1000u);
  const std::string page = report_html(made.report);
  EXPECT_LT(page.size(), 4'000'000u);
}

TEST(RowsOnLines, TablesAreReadableAndTheSame) {
  const Json json = {{"name", "x"},
                     {"rows", {{{"a", 1}, {"b", {1, 2}}}, {{"a", "\xff"}, {"b", Json::array()}}}},
                     {"empty", Json::object()},
                     {"deep", {{"list", {{{"x", {{"y", {{"z", 1}}}}}}}}}}};
  const std::string text = packaging::rows_on_lines(json);
  EXPECT_NE(text.find("    {\"a\":1,\"b\":[1,2]},\n"), std::string::npos) << text;
  EXPECT_EQ(Json::parse(text),
            Json::parse(json.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace
}  // namespace intarsia::test
