// Operands that an operator cannot take: wrong types, axes that are not there, shapes that do not
// broadcast. Each line names the operator, says what is wrong with it, and reads like the others.
#include "refusal.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;

TensorSpec integers(const char* name, std::vector<int32_t> values, std::vector<int32_t> shape) {
  return {name, std::move(shape), kInt32, {}, {}, bytes_of(values)};
}

// One operator on the tensors before the last, whose name is the operator's.
ModelSpec one_operator(int32_t code, std::vector<TensorSpec> tensors, OptionsMaker options = {}) {
  ModelSpec m;
  std::vector<int32_t> operands;
  for (TensorSpec& tensor : tensors) {
    const bool constant = !tensor.data.empty();
    const int32_t id = m.add(std::move(tensor));
    operands.push_back(id);
    if (!constant) m.inputs.push_back(id);
  }
  m.outputs = {operands.back()};
  m.inputs.pop_back();
  operands.pop_back();
  m.operators = {{code, operands, m.outputs, std::move(options)}};
  return m;
}

OptionsMaker plain_add() {
  return options_of(&format::CreateAddOptions, format::Activation::None);
}

struct Operands {
  const char* name;
  ModelSpec model;
  std::vector<const char*> parts;  // what the message has, the operator's name first
};

void PrintTo(const Operands& operands, std::ostream* out) {
  *out << operands.name;
}

class RefusedOperands : public testing::TestWithParam<Operands> {};

TEST_P(RefusedOperands, NameTheOperator) {
  const std::string text = errors(GetParam().model);
  for (const char* part : GetParam().parts) EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, testing::StartsWith("some/m.tflite: "));
}

std::vector<Operands> wrong_types() {
  const TensorSpec yes{"yes", {4}, kBool, {}, {}};
  return {
      {"AddOfUnlike",
       one_operator(kAdd, {{"a", {4}}, {"b", {4}, kInt16}, {"mix", {4}}}, plain_add()),
       {"'mix'", "i8, i16", "it takes"}},
      {"AddOfBools",
       one_operator(kAdd, {yes, yes, {"both", {4}, kBool, {}, {}}}, plain_add()),
       {"'both'", "bool", "it takes"}},
      {"LogicalOfFloats",
       one_operator(kLogicalAnd, {real("a", {4}), real("b", {4}), {"every", {4}, kBool, {}, {}}}),
       {"'every'", "f32", "it takes"}},
      {"ComparisonIntoFloats",
       one_operator(kLess, {real("a", {4}), real("b", {4}), real("smaller", {4})}),
       {"'smaller'", "f32", "it takes"}},
      {"SelectByFloats",
       one_operator(kSelectV2,
                    {real("c", {4}), real("a", {4}), real("b", {4}), real("chosen", {4})}),
       {"'chosen'", "f32", "it takes"}},
      {"MaximumOfUnlike",
       one_operator(kMaximum, {{"a", {4}}, {"b", {4}, kInt16}, {"larger", {4}}}),
       {"'larger'", "i16", "it takes"}},
      {"GatherByFloats",
       one_operator(kGather, {real("a", {4, 2}), real("which", {3}), real("rows", {3, 2})},
                    options_of(&format::CreateGatherOptions, 0, 0)),
       {"'rows'", "the indices have to be i32, but are f32"}},
      {"SoftmaxIntoAnother",
       one_operator(kSoftmax, {{"a", {1, 4}}, real("scores", {1, 4})},
                    options_of(&format::CreateSoftmaxOptions, 1.0f)),
       {"'scores'", "f32", "it takes"}},
  };
}

std::vector<Operands> axes() {
  return {
      {"Concat",
       one_operator(kConcatenation, {real("a", {1, 4}), real("b", {1, 4}), real("joined", {1, 8})},
                    options_of(&format::CreateConcatenationOptions, 2, format::Activation::None)),
       {"'joined'", "axis 2", "rank 2", "-2 to 1 are possible"}},
      {"ConcatBelow",
       one_operator(kConcatenation, {real("a", {1, 4}), real("b", {1, 4}), real("joined", {1, 8})},
                    options_of(&format::CreateConcatenationOptions, -3, format::Activation::None)),
       {"'joined'", "axis -3", "rank 2"}},
      {"Gather",
       one_operator(kGather, {real("a", {4, 2}), integers("which", {0}, {1}), real("rows", {1, 2})},
                    options_of(&format::CreateGatherOptions, 5, 0)),
       {"'rows'", "axis 5", "rank 2"}},
      {"Pack",
       one_operator(kPack, {real("a", {4}), real("b", {4}), real("pair", {2, 4})},
                    options_of(&format::CreatePackOptions, 2, 3)),
       {"'pair'", "axis 3", "rank 2"}},
      {"Unpack",
       one_operator(kUnpack, {real("a", {1, 4}), real("only", {4})},
                    options_of(&format::CreateUnpackOptions, 1, 2)),
       {"'only'", "axis 2", "rank 2"}},
      {"Split",
       one_operator(kSplit, {integers("axis", {4}, {1}), real("a", {1, 4}), real("piece", {1, 4})}),
       {"'piece'", "axis 4", "rank 2"}},
      {"ArgMax",
       one_operator(kArgMax,
                    {real("a", {1, 4}), integers("axis", {7}, {1}), {"best", {1}, kInt32, {}, {}}}),
       {"'best'", "axis 7", "rank 2"}},
      {"Cumsum",
       one_operator(kCumsum,
                    {real("a", {1, 4}), integers("axis", {-3}, {1}), real("running", {1, 4})},
                    options_of(&format::CreateCumsumOptions, false, false)),
       {"'running'", "axis -3", "rank 2"}},
      {"Transpose",
       one_operator(kTranspose,
                    {real("a", {2, 4}), integers("order", {0, 2}, {2}), real("turned", {2, 4})}),
       {"'turned'", "axis 2", "rank 2", "-2 to 1 are possible"}},
      {"TransposeTwice",
       one_operator(kTranspose,
                    {real("a", {2, 4}), integers("order", {1, 1}, {2}), real("turned", {4, 4})}),
       {"'turned'", "[1,1]"}},
  };
}

std::vector<Operands> broadcasting() {
  return {
      {"Add",
       one_operator(kAdd, {real("a", {2, 3}), real("b", {2, 4}), real("sum", {2, 4})}, plain_add()),
       {"'sum'", "shapes [2,3] and [2,4] cannot be broadcast together",
        "extents have to be the same or 1"}},
      {"Sub",
       one_operator(kSub, {real("a", {3}), real("b", {2, 2}), real("difference", {2, 3})},
                    options_of(&format::CreateSubOptions, format::Activation::None)),
       {"'difference'", "shapes [3] and [2,2] cannot be broadcast together"}},
      {"Maximum",
       one_operator(kMaximum, {real("a", {5}), real("b", {2}), real("larger", {5})}),
       {"'larger'", "shapes [5] and [2] cannot be broadcast together"}},
      {"Equal",
       one_operator(kEqual, {real("a", {5}), real("b", {2}), {"same", {5}, kBool, {}, {}}}),
       {"'same'", "shapes [5] and [2] cannot be broadcast together"}},
      {"Select",
       one_operator(
           kSelectV2,
           {{"c", {3}, kBool, {}, {}}, real("a", {2}), real("b", {2}), real("chosen", {3})}),
       {"'chosen'", "cannot be broadcast together"}},
  };
}

const auto name_of = [](const auto& info) { return info.param.name; };

INSTANTIATE_TEST_SUITE_P(Types, RefusedOperands, testing::ValuesIn(wrong_types()), name_of);
INSTANTIATE_TEST_SUITE_P(Axes, RefusedOperands, testing::ValuesIn(axes()), name_of);
INSTANTIATE_TEST_SUITE_P(Broadcasting, RefusedOperands, testing::ValuesIn(broadcasting()), name_of);

}  // namespace
}  // namespace intarsia::test
