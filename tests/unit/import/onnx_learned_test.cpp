// Operators of classical machine learning: what is refused, in which words. What they compute is compared with onnxruntime in
// tests/golden/onnx_layers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "onnx_model.h"

namespace intarsia {
namespace {

using namespace onnx_models;
using testing::HasSubstr;

constexpr char kDomain[] = "ai.onnx.ml";

struct Given {
  const char* name;
  std::vector<int64_t> integers = {};
  std::vector<float> reals = {};
  std::vector<std::string> texts = {};
};

Model learned(const std::string& type, const std::vector<Given>& attributes,
              const std::vector<std::string>& outputs, const std::vector<int64_t>& shape = {2, 3}) {
  Model model;
  auto* set = model.raw().add_operator_set();
  set->set_domain(kDomain), set->set_version(3);
  model.input("x", shape);
  for (const std::string& output : outputs) model.output(output);
  format::Node& node = model.node(type, {"x"}, outputs);
  node.set_domain(kDomain);
  for (const Given& given : attributes) {
    format::Attribute& made = Model::attribute(node, given.name);
    for (const int64_t integer : given.integers) made.add_integers(integer);
    for (const float real : given.reals) made.add_reals(real);
    for (const std::string& text : given.texts) made.add_texts(text);
    // Where there is one of it only, for attributes that are no lists.
    if (given.integers.size() == 1) made.set_integer(given.integers[0]);
    if (given.reals.size() == 1) made.set_real(given.reals[0]);
    if (given.texts.size() == 1) made.set_text(given.texts[0]);
  }
  return model;
}

// One root with two leaves.
struct Tree {
  std::vector<int64_t> trees{0, 0, 0}, nodes{0, 1, 2}, features{2, 0, 0}, yes{1, 0, 0}, no{2, 0, 0};
  std::vector<std::string> modes{"BRANCH_LEQ", "LEAF", "LEAF"};
  std::vector<int64_t> weighed{1, 2};
  std::vector<Given> more = {};
};

std::string refused(const std::function<void(Tree&)>& change) {
  Tree t;
  change(t);
  std::vector<Given> attributes{{"nodes_treeids", t.trees},
                                {"nodes_nodeids", t.nodes},
                                {"nodes_featureids", t.features},
                                {"nodes_truenodeids", t.yes},
                                {"nodes_falsenodeids", t.no},
                                {"nodes_values", {}, std::vector<float>(t.nodes.size(), 0.5f)},
                                {"nodes_modes", {}, {}, t.modes},
                                {"target_treeids", {0, 0}},
                                {"target_nodeids", t.weighed},
                                {"target_ids", {0, 0}},
                                {"target_weights", {}, {1, 2}}};
  attributes.insert(attributes.end(), t.more.begin(), t.more.end());
  return learned("TreeEnsembleRegressor", attributes, {"y"}).refusal();
}

TEST(OnnxTrees, WhatIsNoTree) {
  EXPECT_EQ(refused([](Tree&) {}), "is taken");
  EXPECT_THAT(refused([](Tree& t) { t.nodes[2] = 1; }), HasSubstr("has two nodes 1 in tree 0"));
  EXPECT_THAT(refused([](Tree& t) { t.yes[0] = 7; }),
              HasSubstr("has no node 7 in tree 0, to which node 0 leads"));
  EXPECT_THAT(refused([](Tree& t) {
                t.trees = {0, 0, 0, 0}, t.nodes = {0, 1, 2, 3}, t.features = {0, 0, 0, 0};
                t.yes = {1, 0, 0, 0}, t.no = {2, 0, 0, 0};
                t.modes = {"BRANCH_LEQ", "LEAF", "LEAF", "LEAF"};
              }),
              HasSubstr("has two roots in tree 0"));
  EXPECT_THAT(refused([](Tree& t) {
                t.trees = {0, 1, 1, 1}, t.nodes = {0, 0, 1, 2}, t.features = {0, 0, 0, 0};
                t.yes = {0, 1, 0, 0}, t.no = {0, 2, 1, 0};
                t.modes = {"LEAF", "BRANCH_LEQ", "BRANCH_LEQ", "LEAF"};
              }),
              HasSubstr("reaches node 1 of tree 1"));
  EXPECT_THAT(refused([](Tree& t) {
                t.trees = {0, 1, 1, 1, 1}, t.nodes = {0, 0, 1, 2, 3}, t.features = {0, 0, 0, 0, 0};
                t.yes = {0, 1, 0, 0, 0}, t.no = {0, 2, 3, 0, 0};
                t.modes = {"LEAF", "BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF"};
              }),
              HasSubstr("has nodes that lead in a circle"));
  EXPECT_THAT(refused([](Tree& t) { t.features[0] = 3; }), HasSubstr("compares feature 3 of 3"));
  EXPECT_THAT(refused([](Tree& t) { t.modes.pop_back(); }),
              HasSubstr("has attributes nodes_* of different lengths"));
  EXPECT_THAT(refused([](Tree& t) {
                t.weighed = {1, 0};
              }),
              HasSubstr("has a weight for node 0 of tree 0, which is no leaf"));
  EXPECT_THAT(refused([](Tree& t) { t.modes[0] = "BRANCH_MEMBER"; }),
              HasSubstr("has a node of mode 'BRANCH_MEMBER'"));
}

TEST(OnnxTrees, WhatIsAddedUpOtherwise) {
  EXPECT_THAT(refused([](Tree& t) {
                t.more = {{"post_transform", {}, {}, {"PROBIT"}}};
              }),
              HasSubstr("has the post_transform 'PROBIT'; NONE, LOGISTIC and SOFTMAX"));
  EXPECT_THAT(refused([](Tree& t) {
                t.more = {{"aggregate_function", {}, {}, {"MEDIAN"}}};
              }),
              HasSubstr("has the aggregate_function 'MEDIAN'"));
  EXPECT_THAT(refused([](Tree& t) { t.more = {{"nodes_values_as_tensor"}}; }),
              HasSubstr("has thresholds of 64 bits; export the model for inputs of float32"));
  EXPECT_THAT(refused([](Tree& t) {
                t.more = {{"base_values", {}, {1, 2}}};
              }),
              HasSubstr("has 2 base values for 1 results"));
}

TEST(OnnxLearned, NamesOfClassesAreNumbersWhichANoteSays) {
  const Model model = learned(
      "LinearClassifier",
      {{"coefficients", {}, {1, 2, 3, 4, 5, 6}}, {"classlabels_strings", {}, {}, {"cat", "dog"}}},
      {"label", "scores"});
  Diagnostics notes;
  const auto read = model.read(&notes);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_THAT(notes.to_string(), HasSubstr("which are numbers here: from 0 on 'cat', 'dog'"));
  const graph::Function& entry = read->entry_function();
  EXPECT_EQ(entry.tensor(entry.outputs[0]).type, DataType::Int64);
}

TEST(OnnxLearned, NumbersThatDoNotFit) {
  const auto classes = [](std::vector<float> coefficients, std::vector<Given> more) {
    more.push_back({"coefficients", {}, std::move(coefficients)});
    return learned("LinearClassifier", more, {"label", "scores"}).refusal();
  };
  EXPECT_THAT(classes({1, 2, 3}, {}), HasSubstr("has neither classlabels_ints nor"));
  EXPECT_THAT(classes({1, 2, 3, 4}, {{"classlabels_ints", {0, 1}}}),
              HasSubstr("has 4 coefficients for 1 results of 3 features"));
  EXPECT_THAT(classes({1, 2, 3, 4, 5, 6}, {{"classlabels_ints", {0, 1, 2}}}),
              HasSubstr("has 2 scores for 3 classes"));
  EXPECT_THAT(learned("Scaler", {{"offset", {}, {1, 2}}}, {"y"}).refusal(),
              HasSubstr("has 2 offsets for 3 features"));
  EXPECT_THAT(learned("Normalizer", {{"norm", {}, {}, {"L3"}}}, {"y"}).refusal(),
              HasSubstr("has the norm 'L3'; MAX, L1 and L2 are possible"));
  EXPECT_THAT(learned("Scaler", {{"offset", {}, {1}}}, {"y"}, {}).refusal(),
              HasSubstr("works on a scalar"));
  EXPECT_THAT(learned("Normalizer", {}, {"y"}, {1, 2, 3}).refusal(),
              HasSubstr("works on rows of features, not on [1,2,3]"));
  EXPECT_THAT(learned("LabelEncoder", {{"keys_strings", {}, {}, {"a", "b"}}}, {"y"}).refusal(),
              HasSubstr("has no table from numbers to numbers; encode strings outside"));
}

TEST(OnnxSupportVectors, ChancesAndNumbersThatDoNotFit) {
  const auto machine = [](std::vector<Given> more) {
    more.insert(more.end(), {{"vectors_per_class", {1, 1}},
                             {"classlabels_ints", {0, 1}},
                             {"support_vectors", {}, {1, 2, 3, 4, 5, 6}},
                             {"rho", {}, {1}},
                             {"kernel_params", {}, {1, 1, 1}}});
    return learned("SVMClassifier", more, {"label", "scores"}).refusal();
  };
  EXPECT_EQ(machine({{"coefficients", {}, {1, 2}}}), "is taken");
  EXPECT_THAT(machine({{"coefficients", {}, {1, 2}}, {"prob_a", {}, {1}}}),
              HasSubstr("has 1 and 0 numbers for the chances of 1 comparisons"));
  EXPECT_THAT(machine({{"coefficients", {}, {1, 2, 3}}}),
              HasSubstr("has 3 coefficients and 1 offsets for 2 vectors of 2 classes"));
  EXPECT_THAT(machine({{"coefficients", {}, {1, 2}}, {"kernel_type", {}, {}, {"COSINE"}}}),
              HasSubstr("has the kernel 'COSINE'"));
}

}  // namespace
}  // namespace intarsia
