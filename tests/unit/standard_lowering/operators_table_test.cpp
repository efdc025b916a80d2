// docs/operators.md holds the table of operators and types that this test makes from the code: which
// types of activations the rules, the reference evaluator and the portable lowering take. Every cell
// is an entry of the cases that the other tests run. INTARSIA_UPDATE_DOCS=1 writes the table anew.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "lowering_testing.h"

namespace intarsia::testing {

namespace {

constexpr char kBegin[] = "<!-- table: begin -->\n", kEnd[] = "<!-- table: end -->\n";

std::string table_text() {
  using graph::OpKind;
  std::map<OpKind, std::set<DataType>> types;
  std::vector<Case> cases = supported_cases();
  const std::vector<Case> more = cases_of_many_results();
  cases.insert(cases.end(), more.begin(), more.end());
  for (const Case& c : cases) {
    Random random(1);
    lowerable_operator(random, c);  // does not return while the lowering refuses
    types[c.kind].insert(c.type);
  }
  std::string text = "| operator | int8 | int16 | float32 | others |\n|---|---|---|---|---|\n";
  const OpKind kinds[] = {
#define OP(name, text, attrs, least, most, outputs) OpKind::name,
#include "intarsia/op_kinds.def"
#undef OP
  };
  for (const OpKind kind : kinds) {
    if (kind == OpKind::Call || kind == OpKind::Compiled) continue;
    // Whatever their operands are: control_test has them.
    const bool any_type = kind == OpKind::ReadVariable || kind == OpKind::AssignVariable || kind == OpKind::If ||
                          kind == OpKind::While;
    if (any_type) {
      text += "| " + std::string(to_string(kind)) + " | C | C | C | all |\n";
      continue;
    }
    const std::set<DataType>& known = types[kind];
    EXPECT_FALSE(known.empty()) << to_string(kind) << " is in no case";
    const auto cell = [&](DataType type) { return known.contains(type) ? "C" : ""; };
    std::string others;
    for (const DataType type : known)
      if (type != DataType::Int8 && type != DataType::Int16 && type != DataType::Float32)
        others += (others.empty() ? "" : ", ") + std::string(to_string(type));
    text += "| " + std::string(to_string(kind)) + " | " + cell(DataType::Int8) + " | " +
            cell(DataType::Int16) + " | " + cell(DataType::Float32) + " | " + others + " |\n";
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
