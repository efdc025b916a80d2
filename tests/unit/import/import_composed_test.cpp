// Operators of the format that are several of ours: what they refuse. What they compute is recorded (tests/golden/operators).
#include <flatbuffers/flexbuffers.h>

#include "import_support.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;

constexpr int32_t kNonMaxSuppressionV5 = 121, kDilate = 203, kStablehloPad = 195, kFakeQuant = 80;

TensorSpec number(const char* name, int32_t value) {
  return {name, {}, kInt32, {}, {}, bytes_of(std::vector<int32_t>{value})};
}

ModelSpec top_k(int32_t k, int32_t made) {
  ModelSpec m;
  m.add({"x", {2, 20}, kFloat32, {}, {}});
  m.add(number("k", k));
  m.add({"values", {2, made}, kFloat32, {}, {}});
  m.add({"indices", {2, made}, kInt32, {}, {}});
  m.operators = {{kTopKV2, {0, 1}, {2, 3}}};
  m.inputs = {0};
  m.outputs = {2, 3};
  return m;
}

TEST(ImportComposed, TopK) {
  EXPECT_EQ(errors(top_k(3, 3)), "");
  EXPECT_EQ(errors(top_k(16, 16)), "");
  for (const int32_t k : {0, -1, 21})
    EXPECT_EQ(errors(top_k(k, 3)),
              "some/m.tflite: operator 0 'values' (TOPK_V2 v1): takes the [" + std::to_string(k) +
                  "] largest of [2,20]; 1 to 128 of the last axis are possible\n");
  EXPECT_THAT(errors(top_k(3, 4)), HasSubstr("has the shape [2,3], but is declared as [2,4]"));
  ModelSpec unknown = top_k(3, 3);
  unknown.tensors[3].type = kInt8;
  EXPECT_THAT(errors(unknown),
              HasSubstr("makes f32 and i8 of f32; i8, u8, i16, i32 and f32, and indices "
                        "of i32 and i16, are possible"));
  ModelSpec one = top_k(3, 3);
  one.operators[0].outputs = {2};
  one.outputs = {2};
  EXPECT_THAT(errors(one), HasSubstr("has 1 outputs, but makes 2"));
}

TensorSpec real_number(const char* name, float value) {
  return {name, {}, kFloat32, {}, {}, bytes_of(std::vector<float>{value})};
}

ModelSpec suppression() {
  ModelSpec m;
  m.add({"boxes", {9, 4}, kFloat32, {}, {}});
  m.add({"scores", {9}, kFloat32, {}, {}});
  m.add(number("most", 3));
  m.add(real_number("overlap", 0.5f));
  m.add(real_number("least", 0.1f));
  m.add(real_number("sigma", 0.5f));
  m.add({"indices", {3}, kInt32, {}, {}});
  m.add({"chosen", {3}, kFloat32, {}, {}});
  m.add({"count", {}, kInt32, {}, {}});
  m.operators = {{kNonMaxSuppressionV5, {0, 1, 2, 3, 4, 5}, {6, 7, 8}}};
  m.inputs = {0, 1};
  m.outputs = {6, 7, 8};
  return m;
}

TEST(ImportComposed, SuppressionIsALoopWithABound) {
  EXPECT_EQ(errors(suppression()), "");
  const ModelSpec given = [] {
    ModelSpec m = suppression();
    for (const size_t i : {3, 4}) {
      m.tensors[i].data.clear();
      m.inputs.push_back(static_cast<int32_t>(i));
    }
    return m;
  }();
  EXPECT_EQ(errors(given), "");
}

TEST(ImportComposed, SuppressionThatCannotBe) {
  const auto refusal = [](auto&& change) {
    ModelSpec m = suppression();
    change(m);
    return errors(m);
  };
  EXPECT_THAT(refusal([](ModelSpec& m) {
                m.tensors[0].shape = {9, 5};
              }),
              HasSubstr("takes boxes f32[9,5] and scores f32[9]; boxes [N,4] and scores [N] of "
                        "floats are possible"));
  EXPECT_THAT(refusal([](ModelSpec& m) { m.tensors[1].shape = {8}; }),
              HasSubstr("takes boxes f32[9,4] and scores f32[8]"));
  EXPECT_THAT(refusal([](ModelSpec& m) { m.tensors[2] = number("most", 0); }),
              HasSubstr("takes [0] boxes; 1 to 4096 are possible"));
  EXPECT_THAT(refusal([](ModelSpec& m) {
                m.tensors[2].data.clear();
                m.inputs.push_back(2);
              }),
              HasSubstr("how many boxes it takes at most"));
  EXPECT_THAT(refusal([](ModelSpec& m) {
                m.tensors[5].data.clear();
                m.inputs.push_back(5);
              }),
              HasSubstr("has a sigma that is known only when the model runs"));
  EXPECT_THAT(refusal([](ModelSpec& m) { m.tensors[5] = real_number("sigma", -1); }),
              HasSubstr("has the sigma -1"));
  EXPECT_THAT(refusal([](ModelSpec& m) { m.tensors[3] = number("overlap", 1); }),
              HasSubstr("has a limit that is no float, its input 3"));
  EXPECT_THAT(refusal([](ModelSpec& m) { m.tensors[6].shape = {4}; }),
              HasSubstr("makes i32[4] of 3 boxes"));
  EXPECT_THAT(refusal([](ModelSpec& m) {
                m.operators[0].outputs = {6, 7};
                m.outputs = {6, 7};
              }),
              HasSubstr("has 2 outputs, but makes 3"));
}

constexpr int8_t kComplex64 = 8;
constexpr int32_t kAbs = 101, kRfft2d = 131, kImag = 133, kComplexAbs = 135;

// The size of a transform of images of 8 x 16.
ModelSpec spectrum(std::vector<int32_t> lengths, int32_t last = kComplexAbs) {
  ModelSpec m;
  m.add({"x", {2, 8, 16}, kFloat32, {}, {}});
  m.add({"lengths", {static_cast<int32_t>(lengths.size())}, kInt32, {}, {}, bytes_of(lengths)});
  m.add({"spectrum", {2, 8, 9}, kComplex64, {}, {}});
  m.add({"y", {2, 8, 9}, kFloat32, {}, {}});
  m.operators = {{kRfft2d, {0, 1}, {2}}, {last, {2}, {3}}};
  m.inputs = {0};
  m.outputs = {3};
  return m;
}

TEST(ImportComposed, TransformsOfImages) {
  EXPECT_EQ(errors(spectrum({8, 16})), "");
  EXPECT_EQ(errors(spectrum({8, 16}, kImag)), "");
  EXPECT_THAT(errors(spectrum({8, 12})),
              HasSubstr("transforms f32[2,8,16] by [8,12] points; floats and powers of two"));
  EXPECT_THAT(errors(spectrum({16})), HasSubstr("by [16] points"));
  EXPECT_THAT(errors(spectrum({16, 16})),
              HasSubstr("makes [2,16,9,2], but its output has shape [2,8,9,2]"));
}

TEST(ImportComposed, ComplexNumbersAreForFewOperators) {
  EXPECT_THAT(errors(spectrum({8, 16}, kAbs)),
              HasSubstr("has tensor 2 'spectrum' of type COMPLEX64; RFFT2D makes complex numbers, "
                        "COMPLEX_ABS, REAL and IMAG take them"));
  ModelSpec m = spectrum({8, 16});
  m.tensors[2].type = kFloat32;
  EXPECT_THAT(errors(m), HasSubstr("makes [2,8,9,2], but its output has shape [2,8,9]"));
}

TEST(ImportComposed, OneHotNeedsADepth) {
  ModelSpec m;
  m.add({"indices", {4}, kInt32, {}, {}});
  m.add(number("depth", 0));
  m.add(number("on", 1));
  m.add(number("off", 0));
  m.add({"y", {4, 3}, kInt32, {}, {}});
  m.operators = {
      {kOneHot, {0, 1, 2, 3}, {4}, options_of(&format::CreateOneHotOptions, int32_t{-1})}};
  m.inputs = {0};
  m.outputs = {4};
  EXPECT_THAT(errors(m), HasSubstr("needs a depth of 1 or more"));
  m.tensors[1] = number("depth", 3);
  EXPECT_EQ(errors(m), "");
  m.operators[0].options = options_of(&format::CreateOneHotOptions, int32_t{2});
  EXPECT_THAT(errors(m), HasSubstr("names axis 2 of a tensor of rank 2"));
}

// x times itself, turned, or times another input.
ModelSpec product_as_layer(int8_t type, bool own, format::Activation activation, bool keep_dims) {
  ModelSpec m;
  const auto tensor = [&](const char* name, std::vector<int32_t> shape) {
    if (type == kFloat32) return TensorSpec{name, std::move(shape), type, {}, {}};
    return TensorSpec{name, std::move(shape), type, {0.5f}, {type == kInt8 ? 3 : 0}};
  };
  m.add(tensor("x", keep_dims ? std::vector<int32_t>{2, 2, 6} : std::vector<int32_t>{4, 6}));
  m.add(tensor("weights", {3, 6}));
  const int32_t columns = own ? 4 : 3;
  m.add(tensor("y",
               keep_dims ? std::vector<int32_t>{2, 2, columns} : std::vector<int32_t>{4, columns}));
  m.operators = {{kFullyConnected,
                  {0, own ? 0 : 1, -1},
                  {2},
                  options_of(&format::CreateFullyConnectedOptions, activation, int8_t{0}, keep_dims,
                             false, int8_t{0}),
                  4}};
  m.inputs = {0, 1};
  if (own) m.inputs = {0};
  m.outputs = {2};
  return m;
}

TEST(ImportComposed, LayersWithComputedWeightsAreProducts) {
  const auto kinds = [](const ModelSpec& m) {
    std::vector<graph::OpKind> result;
    for (const graph::Node& node : imported(m).nodes) result.push_back(node.kind);
    return result;
  };
  using enum graph::OpKind;
  using format::Activation;
  for (const int8_t type : {kFloat32, kInt8, kInt16})
    EXPECT_EQ(kinds(product_as_layer(type, true, Activation::None, false)),
              std::vector{BatchMatmul});
  EXPECT_EQ(kinds(product_as_layer(kInt8, false, Activation::Relu, false)),
            (std::vector{BatchMatmul, Relu}));
  EXPECT_EQ(kinds(product_as_layer(kInt8, false, Activation::Relu, true)),
            (std::vector{Reshape, BatchMatmul, Relu, Reshape}));
  EXPECT_EQ(kinds(product_as_layer(kInt8, false, Activation::None, true)),
            (std::vector{Reshape, BatchMatmul, Reshape}));
  EXPECT_EQ(kinds(product_as_layer(kFloat32, false, Activation::Relu, true)),
            std::vector{FullyConnected});
  const graph::Function main = imported(product_as_layer(kInt8, true, Activation::None, false));
  EXPECT_EQ(main.nodes[0].attrs<graph::BatchMatmulAttrs>(), (graph::BatchMatmulAttrs{false, true}));
  EXPECT_EQ(main.nodes[0].inputs[0], main.nodes[0].inputs[1]);
}

// x[:, i + 1] of x[1,5,4], i an input.
ModelSpec slice_at_a_place(int32_t shrink_mask, int32_t last) {
  constexpr int32_t kStridedSlice = 45, kAddCode = 0;
  const auto list = [](const char* name, std::vector<int32_t> values) {
    return TensorSpec{
        name, {static_cast<int32_t>(values.size())}, kInt32, {}, {}, bytes_of(values)};
  };
  ModelSpec m;
  m.add({"x", {1, 5, 4}, kFloat32, {}, {}});
  m.add({"i", {}, kInt32, {}, {}});
  m.add(number("zero", 0)), m.add(number("one", 1)), m.add(number("last", last));
  m.add({"first", {}, kInt32, {}, {}});
  m.add({"end", {}, kInt32, {}, {}});
  m.add({"begin_list", {2}, kInt32, {}, {}}), m.add({"end_list", {2}, kInt32, {}, {}});
  m.add(list("strides", {1, 1}));
  m.add({"y",
         shrink_mask != 0 ? std::vector<int32_t>{1, 4} : std::vector<int32_t>{1, 2, 4},
         kFloat32,
         {},
         {}});
  const auto pack = options_of(&format::CreatePackOptions, int32_t{2}, int32_t{0});
  m.operators = {{kAddCode, {1, 3}, {5}},
                 {kAddCode, {1, 4}, {6}},
                 {kPack, {2, 5}, {7}, pack},
                 {kPack, {2, 6}, {8}, pack},
                 {kStridedSlice,
                  {0, 7, 8, 9},
                  {10},
                  options_of(&format::CreateStridedSliceOptions, int32_t{1}, int32_t{1}, int32_t{0},
                             int32_t{0}, shrink_mask, false)}};
  m.inputs = {0, 1};
  m.outputs = {10};
  return m;
}

TEST(ImportComposed, SlicesBeginWhereTheModelFindsOut) {
  const auto rows = [](const ModelSpec& m, int32_t i) {
    const Result<graph::Module> module = import(m);
    EXPECT_TRUE(module.ok()) << module.error().to_string();
    std::vector<float> x(20);
    for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k);
    const auto made =
        graph::Evaluator(*module).run({bytes_of(x), bytes_of(std::vector<int32_t>{i})});
    EXPECT_TRUE(made.ok());
    std::vector<float> result((*made)[0].size() / sizeof(float));
    std::memcpy(result.data(), (*made)[0].data(), (*made)[0].size());
    return result;
  };
  EXPECT_EQ(rows(slice_at_a_place(2, 2), 1), (std::vector<float>{8, 9, 10, 11}));
  EXPECT_EQ(rows(slice_at_a_place(2, 2), -2),
            (std::vector<float>{16, 17, 18, 19}));  // from the end
  EXPECT_EQ(rows(slice_at_a_place(0, 3), 0), (std::vector<float>{4, 5, 6, 7, 8, 9, 10, 11}));
  // An extent that is not known stays refused.
  ModelSpec open = slice_at_a_place(0, 3);
  open.operators[3].inputs = {2, 4};
  EXPECT_THAT(errors(open), HasSubstr("needs its beginning to be constant"));
}

TEST(ImportComposed, PlacesOfLargestElementsMayHave64Bits) {
  ModelSpec m;
  m.add({"x", {2, 20}, kFloat32, {}, {}});
  m.add(number("axis", 1));
  m.add({"y", {2}, kInt64, {}, {}});
  m.operators = {{kArgMax, {0, 1}, {2}}};
  m.inputs = {0};
  m.outputs = {2};
  std::vector<graph::OpKind> kinds;
  for (const graph::Node& node : imported(m).nodes) kinds.push_back(node.kind);
  EXPECT_EQ(kinds, (std::vector{graph::OpKind::ArgMax, graph::OpKind::Cast}));
}

// argmax(x) + by, in whole numbers of 64 bits.
ModelSpec moved_places(int64_t by, std::vector<int32_t> signature = {}) {
  ModelSpec m;
  m.add({"x", {2, 20}, kFloat32, {}, {}});
  m.add(number("axis", 1));
  for (const char* name : {"place", "y"}) {
    TensorSpec places{name, {2}, kInt64, {}, {}};
    places.signature = signature;
    m.add(places);
  }
  m.add({"by", {}, kInt64, {}, {}, bytes_of(std::vector<int64_t>{by})});
  m.operators = {{kArgMax, {0, 1}, {2}}, {kAdd, {2, 4}, {3}}};
  m.inputs = {0};
  m.outputs = {3};
  return m;
}

TEST(ImportComposed, WholeNumbersOf64BitsAreComputedWith32) {
  for (const std::vector<int32_t>& signature : {std::vector<int32_t>{}, {-1}}) {
    const graph::Function main = imported(moved_places(-3, signature));
    std::vector<graph::OpKind> kinds;
    for (const graph::Node& node : main.nodes) kinds.push_back(node.kind);
    using enum graph::OpKind;
    EXPECT_EQ(kinds, (std::vector{ArgMax, Cast, Add, Cast}));
    EXPECT_EQ(main.tensor(main.nodes[2].inputs[0]).type, DataType::Int32);
    EXPECT_EQ(main.tensor(main.outputs[0]).type, DataType::Int64);
    EXPECT_EQ(main.tensor(main.outputs[0]).shape, (Shape{2}));
  }
  EXPECT_THAT(errors(moved_places(int64_t{1} << 40)),
              HasSubstr("computes with 1099511627776, which has more than 32 bits"));
}

TEST(ImportComposed, ReverseSequenceKnowsItsAxes) {
  ModelSpec m;
  m.add({"x", {3, 5}, kFloat32, {}, {}});
  m.add({"lengths", {3}, kInt32, {}, {}});
  m.add({"y", {3, 5}, kFloat32, {}, {}});
  m.operators = {{kReverseSequence,
                  {0, 1},
                  {2},
                  options_of(&format::CreateReverseSequenceOptions, int32_t{1}, int32_t{0})}};
  m.inputs = {0, 1};
  m.outputs = {2};
  EXPECT_EQ(errors(m), "");
  m.operators[0].options =
      options_of(&format::CreateReverseSequenceOptions, int32_t{0}, int32_t{1});
  EXPECT_THAT(errors(m), HasSubstr("needs 5 lengths"));
  m.operators[0].options =
      options_of(&format::CreateReverseSequenceOptions, int32_t{1}, int32_t{1});
  EXPECT_THAT(errors(m), HasSubstr("reverses axis 1 of batches along the same axis"));
  m.operators[0].options =
      options_of(&format::CreateReverseSequenceOptions, int32_t{2}, int32_t{0});
  EXPECT_THAT(errors(m), HasSubstr("axis 2"));
  m.operators[0].options = {};
  EXPECT_THAT(errors(m), HasSubstr("has no options"));
}

TEST(ImportComposed, StepsOfDilateAreOnesOrMore) {
  ModelSpec m;
  m.add({"x", {3, 5}, kFloat32, {}, {}});
  m.add({"steps", {2}, kInt32, {}, {}, bytes_of(std::vector<int32_t>{2, 0})});
  m.add({"gap", {}, kFloat32, {}, {}, bytes_of(std::vector<float>{0})});
  m.add({"y", {5, 5}, kFloat32, {}, {}});
  m.operators = {{kDilate, {0, 1, 2}, {3}, {}}};
  m.inputs = {0};
  m.outputs = {3};
  EXPECT_THAT(errors(m), HasSubstr("has the steps [2,0] for [3,5]"));
  m.tensors[1].data = bytes_of(std::vector<int32_t>{2, 1});
  EXPECT_EQ(errors(m), "");
  m.tensors[3].shape = {6, 5};
  EXPECT_NE(errors(m), "");
}

TEST(ImportComposed, PaddingWithGapsSaysHowMuch) {
  ModelSpec m;
  m.add({"x", {3, 5}, kFloat32, {}, {}});
  m.add({"put", {}, kFloat32, {}, {}, bytes_of(std::vector<float>{0})});
  m.add({"y", {3, 5}, kFloat32, {}, {}});
  m.operators = {{kStablehloPad, {0, 1}, {2}, {}}};
  m.inputs = {0};
  m.outputs = {2};
  EXPECT_THAT(errors(m), HasSubstr("has no options that say how much it pads"));
}

TEST(ImportComposed, FakeQuantNeedsARangeAroundZero) {
  ModelSpec m;
  m.add({"x", {3}, kFloat32, {}, {}});
  m.add({"y", {3}, kFloat32, {}, {}});
  m.inputs = {0};
  m.outputs = {1};
  const auto with = [&](float least, float most, int32_t bits) {
    m.operators = {{kFakeQuant,
                    {0},
                    {1},
                    options_of(&format::CreateFakeQuantOptions, least, most, bits, false)}};
    return errors(m);
  };
  EXPECT_EQ(with(-1, 2, 8), "");
  EXPECT_THAT(with(0.5f, 2, 8), HasSubstr("has 8 bits for numbers from 0.5 to 2"));
  EXPECT_THAT(with(-1, 2, 1), HasSubstr("2 to 16 bits"));
  EXPECT_THAT(with(0, 0, 8), HasSubstr("around 0"));
}

// list[: i], item, list[i + step :] joined; they meet where the step is 1.
ModelSpec list_with_an_item(int32_t step) {
  constexpr int32_t kSlice = 65;
  const auto whole = [](const char* name, std::vector<int32_t> shape,
                        std::vector<int32_t> values = {}) {
    return TensorSpec{name, std::move(shape), kInt32, {}, {}, bytes_of(values)};
  };
  ModelSpec m;
  const int32_t list = m.add({"list", {5, 2}, kFloat32, {}, {}}), i = m.add(whole("i", {}));
  const int32_t item = m.add({"item", {1, 2}, kFloat32, {}, {}});
  const int32_t next = m.add(whole("next", {})), one = m.add(whole("one", {1}, {1}));
  const int32_t by = m.add(whole("step", {}, {step}));
  const int32_t rest = m.add(whole("rest", {1}, {-1})), none = m.add(whole("none", {1}, {0}));
  const int32_t all = m.add(whole("all", {2}, {-1, -1}));
  const int32_t zeros = m.add(whole("zeros", {2}, {0, 0}));
  const int32_t here = m.add(whole("here", {1})), there = m.add(whole("there", {1}));
  const int32_t size = m.add(whole("size", {2})), begin = m.add(whole("begin", {2}));
  TensorSpec part{"part", {1, 2}, kFloat32, {}, {}};
  part.signature = {-1, 2};
  const int32_t before = m.add(part), behind = m.add(part);
  const int32_t after = m.add({"after", {5, 2}, kFloat32, {}, {}});
  const OptionsMaker first =
      options_of(&format::CreateConcatenationOptions, 0, format::Activation::None);
  m.operators = {{kAdd, {i, by}, {next}},
                 {kReshape, {i, one}, {here}},
                 {kReshape, {next, one}, {there}},
                 {kConcatenation, {here, rest}, {size}, first},
                 {kConcatenation, {there, none}, {begin}, first},
                 {kSlice, {list, zeros, size}, {before}},
                 {kSlice, {list, begin, all}, {behind}},
                 {kConcatenation, {before, item, behind}, {after}, first}};
  m.inputs = {list, i, item};
  m.outputs = {after};
  return m;
}

TEST(ImportComposed, AnElementOfAListIsReplacedWhereTheOthersMeetIt) {
  const graph::Function main = imported(list_with_an_item(1));
  EXPECT_EQ(main.nodes.back().kind, graph::OpKind::DynamicUpdateSlice);
  EXPECT_THAT(errors(list_with_an_item(2)), testing::HasSubstr("needs its size to be constant"));
}

}  // namespace
}  // namespace intarsia::test
