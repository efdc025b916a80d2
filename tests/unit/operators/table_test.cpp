// The table of operators is whole, and it is the only one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "intarsia/plugin/op_families.h"
#include "operators/families.h"

namespace intarsia::operators {
namespace {

using graph::OpKind;
using graph::TypeRule;

struct Listed {
  OpKind kind;
  size_t least_inputs, most_inputs, outputs;
};

constexpr auto kListed = std::to_array<Listed>({
#define OP(name, text, attrs, least, most, outputs) {OpKind::name, least, most, outputs},
#include "intarsia/graph/op_kinds.def"
#undef OP
});

TEST(Table, HasOneRowOfEveryKind) {
  std::map<OpKind, int> rows;
  for (const std::span<const Operator> family : all_families()) {
    EXPECT_FALSE(family.empty());
    for (const Operator& row : family) ++rows[row.kind];
  }
  for (const Listed& listed : kListed) {
    EXPECT_EQ(rows[listed.kind], 1) << to_string(listed.kind);
    EXPECT_EQ(operator_of(listed.kind).kind, listed.kind);
  }
  EXPECT_EQ(rows.size(), kListed.size());
}

TEST(Table, SaysOfEveryKindWhatItDoes) {
  std::set<std::string_view> without_results, without_c;
  for (const Listed& listed : kListed) {
    const Operator& row = operator_of(listed.kind);
    const std::string_view name = to_string(listed.kind);
    EXPECT_NE(row.infer, nullptr) << name;
    if (row.evaluate == nullptr) without_results.insert(name);
    if (row.lower == nullptr) without_c.insert(name);
    EXPECT_TRUE(row.lower != nullptr || row.refuses == nullptr) << name;
  }
  // The evaluator and the schedule run functions for these; what is compiled has neither.
  EXPECT_EQ(without_results, (std::set<std::string_view>{"call", "if", "while"}));
  EXPECT_EQ(without_c, (std::set<std::string_view>{"call", "compiled", "if", "while"}));
}

TEST(Table, TypesAreThoseOfTheOperands) {
  for (const Listed& listed : kListed) {
    const Operator& row = operator_of(listed.kind);
    std::set<std::vector<DataType>> seen;
    for (const TypeRule& rule : row.types) {
      std::vector<DataType> types{rule.output()};
      for (size_t i = 0; i < rule.inputs(); ++i) types.push_back(rule.input(i));
      EXPECT_TRUE(seen.insert(types).second) << to_string(listed.kind) << " lists types twice";
      EXPECT_GE(rule.inputs(), listed.least_inputs) << to_string(listed.kind);
      EXPECT_LE(rule.inputs(), listed.most_inputs) << to_string(listed.kind);
    }
    const bool some_in_c = row.types.empty() || std::ranges::any_of(row.types, &TypeRule::in_c);
    EXPECT_TRUE(row.lower == nullptr || some_in_c) << to_string(listed.kind);
  }
}

TEST(Table, ElementwiseKindsHaveTheirNumberOfOperands) {
  for (const Listed& listed : kListed) {
    const Elementwise elementwise = operator_of(listed.kind).elementwise;
    EXPECT_EQ(graph::is_elementwise_unary(listed.kind), elementwise == Elementwise::Unary);
    EXPECT_EQ(graph::is_elementwise_binary(listed.kind), elementwise == Elementwise::Binary);
    if (elementwise == Elementwise::No) continue;
    const size_t inputs = elementwise == Elementwise::Unary ? 1 : 2;
    EXPECT_EQ(listed.least_inputs, inputs) << to_string(listed.kind);
    EXPECT_EQ(listed.most_inputs, inputs) << to_string(listed.kind);
    EXPECT_EQ(listed.outputs, 1u) << to_string(listed.kind);
  }
}

TEST(TypeRule, FitsItsTypesAndAnyTypeOfAbsentOperands) {
  using enum DataType;
  graph::Function function;
  for (const DataType type : {Int8, Int16, Float32})
    function.tensors.push_back({"t", type, {1}, {}, {}});
  graph::Node node;
  node.inputs = {graph::TensorId{0}, graph::TensorId{1}}, node.outputs = {graph::TensorId{2}};
  EXPECT_TRUE((TypeRule{Int8, Int16, Float32}.fits(function, node)));
  EXPECT_FALSE((TypeRule{Int8, Int8, Float32}.fits(function, node)));
  EXPECT_FALSE((TypeRule{Int8, Int16, Int8}.fits(function, node)));
  node.inputs[1] = graph::TensorId{};
  EXPECT_TRUE((TypeRule{Int8, Int8, Float32}.fits(function, node)));
  node.inputs.pop_back();
  EXPECT_TRUE((TypeRule{Int8, Int8, Float32}.fits(function, node)));
  EXPECT_TRUE((TypeRule{Int8, Float32}.in_c()));
  EXPECT_FALSE(graph::evaluated_only({Int8, Float32}).in_c());
}

// A file that has many kinds as cases is a table of its own, which a new operator would have to be added to. What passes
// and targets do with a few operators is theirs.
TEST(Table, IsTheOnlyOne) {
  const std::filesystem::path root = std::filesystem::path(INTARSIA_SOURCE_DIR) / "host-compiler";
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".cpp" && ending != ".h") continue;
    ++files;
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    static const std::regex label("case (?:graph::)?OpKind::(\\w+):");
    std::set<std::string> kinds;
    for (std::sregex_iterator it(text.begin(), text.end(), label), end; it != end; ++it)
      kinds.insert((*it)[1]);
    EXPECT_LE(kinds.size(), kListed.size() / 4) << entry.path();
  }
  EXPECT_GT(files, 200u);
}

}  // namespace
}  // namespace intarsia::operators
