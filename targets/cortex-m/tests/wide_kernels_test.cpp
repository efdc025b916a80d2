// The kernels on int16 activations and those of recurrent layers, on this machine through their portable twins:
// random modules over several runs on one state, against the reference evaluator.
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "emission/c_constant.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/plugin/c_function.h"
#include "intarsia/plugin/standard_lowering.h"
#include "support/c_program.h"
#include "support/needs.h"
#include "wide_modules.h"

#include "compiler/kernels.h"
#include "kernel_library.h"

namespace intarsia::targets::c {
void add_kinds(TargetRegistry& registry);
}
namespace intarsia::targets::cortex_m {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::cortex_m {
namespace {

using graph::OpKind;

constexpr int kRuns = 3;

class WideKernels {
 public:
  explicit WideKernels(const std::string& core) {
    targets::c::add_kinds(registry_);
    targets::cortex_m::add_kinds(registry_);
    const Result<TargetSpec> target = parse_target(registry_.catalogue(), "c -mcpu=" + core);
    INTARSIA_CHECK(target.ok(), "a core of the table");
    target_ = target->host();
  }

  void add(graph::Module module) {
    const Result<tir::LoweredFunction> lowered =
        registry_.kind_of(target_).graph_to_tir(target_, module, module.entry_function(), {});
    ASSERT_TRUE(lowered.ok()) << lowered.error().to_string();
    const std::string prefix = fmt::format("m{}_", cases_.size());
    for (const tir::Constant& constant : lowered->module.constants)
      text_ += *emission::emit_c_constant(constant, prefix, {emission::CLinkage::Static, 4, ""});
    const tir::Func& kernel = lowered->module.funcs[0];
    const Result<std::string> function = emission::emit_c_function(
        lowered->module, kernel, {prefix, {}, targets::cortex_m::kernel_structs()});
    ASSERT_TRUE(function.ok()) << function.error().to_string();
    tuned_ += function->find("static const struct intarsia_") != std::string::npos;
    text_ += *function + fmt::format("void {0}run(void **p);\nvoid {0}run(void **p) {{\n  {0}{1}(",
                                     prefix, kernel.name);
    std::vector<size_t> scratch;
    for (const tir::Buffer& buffer : kernel.buffers)
      if (buffer.scope == tir::Scope::Local) scratch.push_back(static_cast<size_t>(buffer.bytes()));
    for (size_t i = 0; i < kernel.parameters.size() + scratch.size(); ++i)
      text_ += fmt::format("{}p[{}]", i == 0 ? "" : ", ", i);
    text_ += ");\n}\n";
    cases_.push_back({std::move(module), std::move(scratch)});
  }

  size_t tuned() const { return tuned_; }
  size_t count() const { return cases_.size(); }

  void check(const std::string& compiler = "gcc") {
    const testing::CProgram program(
        compiler,
        "#include <stdint.h>\n#include \"intarsia/kernels/kernels.h\"\n#include "
        "\"intarsia/targets/cortex_m/kernels.h\"\n" +
            text_,
        flags_with_kernels(compiler));
    ASSERT_TRUE(program.ok()) << program.errors();
    for (size_t i = 0; i < cases_.size(); ++i) {
      SCOPED_TRACE(fmt::format("case {}\n{}", i, graph::print(cases_[i].module)));
      auto* run = program.find<void(void**)>(fmt::format("m{}_run", i));
      ASSERT_NE(run, nullptr);
      check_case(cases_[i], run);
    }
  }

 private:
  struct Case {
    graph::Module module;
    std::vector<size_t> scratch;  // bytes of each buffer
  };

  // Inputs and state in the order of the operator's operands, then the output and the scratch buffers. Memory around
  // them is not the kernel's: none of it may change.
  static void check_case(const Case& c, void (*run)(void**)) {
    constexpr size_t kAround = 32;
    const graph::Function& function = c.module.entry_function();
    const graph::Node& node = function.nodes[0];
    graph::Evaluator evaluator(c.module);
    Random random(7);
    std::vector<std::vector<uint8_t>> states;
    for (const graph::TensorId id : node.inputs)
      if (id.valid() && function.tensor(id).variable)
        states.push_back(initial(function.tensor(id), kAround));
    std::vector<std::vector<uint8_t>> scratch;
    for (const size_t bytes : c.scratch) scratch.emplace_back(bytes + kAround, 0xCD);
    for (int k = 0; k < kRuns; ++k) {
      std::vector<graph::TensorValue> inputs = testing::random_inputs(random, c.module);
      const Result<std::vector<graph::TensorValue>> expected = evaluator.run(inputs);
      ASSERT_TRUE(expected.ok());
      std::vector<uint8_t> output((*expected)[0].size() + kAround, 0xCD);
      std::vector<void*> arguments;
      size_t state = 0, input = 0;
      std::set<graph::TensorId> seen;  // both operands may be one
      for (const graph::TensorId id : node.inputs) {
        if (!id.valid() || function.tensor(id).constant.valid() || !seen.insert(id).second)
          continue;
        arguments.push_back(function.tensor(id).variable ? states[state++].data()
                                                         : inputs[input++].data());
      }
      arguments.push_back(output.data());
      for (std::vector<uint8_t>& buffer : scratch) arguments.push_back(buffer.data());
      run(arguments.data());
      ASSERT_TRUE(std::equal((*expected)[0].begin(), (*expected)[0].end(), output.begin()))
          << "run " << k;
      const auto expect_untouched_behind = [](const std::vector<uint8_t>& bytes) {
        for (size_t end = bytes.size() - kAround; end < bytes.size(); ++end)
          ASSERT_EQ(bytes[end], 0xCD);
      };
      expect_untouched_behind(output);
      for (const auto* buffers : {&states, &scratch})
        for (const std::vector<uint8_t>& bytes : *buffers) expect_untouched_behind(bytes);
    }
  }

  // As init leaves it: zeros, in the tensor's own terms.
  static std::vector<uint8_t> initial(const graph::Tensor& tensor, size_t around) {
    const auto bytes = static_cast<size_t>(tensor.bytes());
    const auto zero = static_cast<uint64_t>(
        tensor.quantization.zero_point.empty() ? 0 : tensor.quantization.zero_point[0]);
    const size_t size = bytes / static_cast<size_t>(element_count(tensor.shape));
    std::vector<uint8_t> result(bytes + around, 0xCD);
    for (size_t i = 0; i < bytes; ++i) result[i] = static_cast<uint8_t>(zero >> (8 * (i % size)));
    return result;
  }

  TargetRegistry registry_;
  Target target_;
  std::string text_;
  std::vector<Case> cases_;
  size_t tuned_ = 0;
};

class WideCore : public ::testing::TestWithParam<const char*> {};

// Shapes of every kind: padding, strides, dilation, groups, multipliers, biases of 64 bits or none.
TEST_P(WideCore, RandomOperators) {
  WideKernels kernels(GetParam());
  Random random(11);
  for (const OpKind kind : {OpKind::Conv2d, OpKind::DepthwiseConv2d, OpKind::FullyConnected,
                            OpKind::Lstm, OpKind::Add, OpKind::Sub})
    for (int i = 0; i < 30; ++i)
      kernels.add(testing::random_operator(random, kind, DataType::Int16));
  for (const OpKind kind : {OpKind::Svdf, OpKind::Lstm})
    for (int i = 0; i < 30; ++i)
      kernels.add(testing::random_operator(random, kind, DataType::Int8));
  EXPECT_GE(kernels.tuned(), kernels.count() / 3);
  kernels.check();
}

TEST_P(WideCore, Convolutions) {
  WideKernels kernels(GetParam());
  Random random(12);
  for (int i = 0; i < 80; ++i) {
    WideCase c;
    c.kind = i % 2 == 0 ? OpKind::Conv2d : OpKind::DepthwiseConv2d;
    c.height = random.range(3, 9), c.width = random.range(3, 9), c.channels = random.range(4, 21);
    c.out_channels = c.kind == OpKind::Conv2d ? random.range(4, 14) : c.channels;
    c.kernel_h = random.range(1, 3), c.kernel_w = random.range(1, 3), c.stride = random.range(1, 2);
    c.dilation = i % 5 == 0 ? 2 : 1;
    c.padding = {random.range(0, 2), random.range(0, 2), random.range(2, 4), random.range(2, 4)};
    c.bias = i % 4 == 0 ? DataType::Int32 : DataType::Int64;  // of convolutions only
    kernels.add(wide_module(random, c));
  }
  EXPECT_GE(kernels.tuned(), kernels.count() / 2);
  kernels.check();
}

// Sums of more products than fit 32 bits, at the limits of what activations and weights can be.
TEST_P(WideCore, LongSums) {
  WideKernels kernels(GetParam());
  Random random(13);
  for (const int64_t inputs : {503, 504, 505, 508, 1007, 1008, 1009, 2048})
    for (const DataType bias : {DataType::Int64, DataType::Int32}) {
      WideCase c;
      c.kind = OpKind::FullyConnected;
      c.channels = inputs, c.out_channels = 5, c.bias = bias, c.extreme = true;
      kernels.add(wide_module(random, c));
    }
  EXPECT_EQ(kernels.tuned(), kernels.count());
  kernels.check();
}

// Of spectra and other inputs of a coarse scale, sums become the gates' Q3.12 by factors above one.
TEST_P(WideCore, LstmOfCoarseInputs) {
  WideKernels kernels(GetParam());
  Random random(15);
  for (const float scale : {0.02f, 0.1f, 0.7f})
    kernels.add(
        lstm_module(random, DataType::Int8, random.range(5, 30), random.range(3, 12), scale));
  EXPECT_EQ(kernels.tuned(), kernels.count());
  kernels.check();
}

// Units that fill no block, with sums of 32 bits and, of many products of int16, of 64.
TEST_P(WideCore, LstmOfShortAndWideSums) {
  WideKernels kernels(GetParam());
  Random random(16);
  for (const int64_t inputs : {5, 30, 1200})
    for (const int64_t units : {1, 6, 11})
      kernels.add(lstm_module(random, DataType::Int16, inputs, units, 0.0f, random.range(1, 3)));
  EXPECT_EQ(kernels.tuned(), kernels.count());
  kernels.check();
}

TEST_P(WideCore, ClangCompilesThemWithoutAWarning) {
  const std::vector<std::string> compilers = testing::c_compilers();
  if (std::find(compilers.begin(), compilers.end(), "clang") == compilers.end())
    GTEST_SKIP() << needs("clang") << "it is not installed";
  WideKernels kernels(GetParam());
  Random random(14);
  kernels.add(testing::random_operator(random, OpKind::Lstm, DataType::Int16));
  kernels.add(lstm_module(random, DataType::Int16, 20, 6, 0.0f));
  kernels.add(testing::random_operator(random, OpKind::Svdf, DataType::Int8));
  kernels.check("clang");
}

INSTANTIATE_TEST_SUITE_P(CortexM, WideCore, ::testing::Values("cortex-m4", "cortex-m55"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace intarsia::test::cortex_m
