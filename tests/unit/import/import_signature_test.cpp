// Files of several networks, each with a signature.
#include "import_support.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;

// A softmax, and behind it a relu of other extents.
ModelSpec two_networks() {
  ModelSpec m = softmax_model();
  ModelSpec other;
  other.add({"x", {1, 3}});
  other.add({"y", {1, 3}});
  other.operators = {{kRelu, {0}, {1}, {}, 1}};
  other.inputs = {0};
  other.outputs = {1};
  m.subgraphs = {other};
  m.signatures = {{"score", 0}, {"limit", 1}};
  return m;
}

Result<graph::Module> of(const ModelSpec& m, const std::string& signature,
                         Diagnostics* notes = nullptr) {
  return import_model(build(m), {.file = "some/m.tflite", .notes = notes, .signature = signature});
}

TEST(ImportSignature, NamesTheNetwork) {
  const Result<graph::Module> first = of(two_networks(), "score"),
                              other = of(two_networks(), "limit");
  ASSERT_TRUE(first.ok()) << first.error().to_string();
  ASSERT_TRUE(other.ok()) << other.error().to_string();
  EXPECT_EQ(first->entry_function().nodes[0].kind, graph::OpKind::Softmax);
  EXPECT_EQ(other->entry_function().nodes[0].kind, graph::OpKind::Relu);
  EXPECT_EQ(first->name, "m_score");
  EXPECT_EQ(other->name, "m_limit");
}

TEST(ImportSignature, WithoutOneTheFirstNetworkIsTakenAndANoteSaysSo) {
  Diagnostics notes;
  const Result<graph::Module> module = of(two_networks(), "", &notes);
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_EQ(module->name, "m");
  EXPECT_EQ(module->entry_function().nodes[0].kind, graph::OpKind::Softmax);
  EXPECT_EQ(notes.to_string(),
            "some/m.tflite: has the signatures 'score', 'limit'; what is compiled is subgraph 0 "
            "'main'; --signature NAME takes the network of another\n");
  // One network by two names is no choice.
  ModelSpec m = two_networks();
  m.signatures[1].second = 0;
  Diagnostics none;
  ASSERT_TRUE(of(m, "", &none).ok());
  EXPECT_EQ(none.to_string(), "");
}

TEST(ImportSignature, ThatIsNotThereIsRefused) {
  EXPECT_THAT(of(two_networks(), "limi").error().to_string(),
              HasSubstr("some/m.tflite: has no signature 'limi'; it has 'score', 'limit'"));
  EXPECT_THAT(of(softmax_model(), "limit").error().to_string(),
              HasSubstr("has no signature 'limit'; it has none at all: leave --signature out"));
  ModelSpec m = two_networks();
  m.signatures[1].second = 2;
  EXPECT_THAT(of(m, "limit").error().to_string(),
              HasSubstr("has the signature 'limit' of subgraph 2, but 2 subgraphs"));
}

TEST(ImportSignature, OfOtherFilesThereAreNone) {
  const std::string text = "intarsia.graph net\n";
  const auto module = import_model({reinterpret_cast<const uint8_t*>(text.data()), text.size()},
                                   {.file = "m.txt", .signature = "limit"});
  EXPECT_THAT(module.error().to_string(),
              HasSubstr("has no signatures, which .tflite files alone have"));
}

}  // namespace
}  // namespace intarsia::test
