// Every kernel on this machine, through its portable twins of the cores' instructions, against the
// reference evaluator: all small shapes, and larger ones at random.
#include <functional>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "emit/c_constant.h"
#include "emit/c_function.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/standard_lowering.h"
#include "operator_modules.h"
#include "support/c_program.h"

#include "compiler/kernels.h"

namespace intarsia::targets::c {
void add_kinds(TargetRegistry& registry);
}
namespace intarsia::targets::cortex_m {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::cortex_m {
namespace {

using graph::OpKind;

// Operators compiled for one core into one C program.
class Kernels {
 public:
  explicit Kernels(const std::string& core) {
    targets::c::add_kinds(registry_);
    targets::cortex_m::add_kinds(registry_);
    const Result<TargetSpec> target = parse_target(registry_.catalogue(), "c -mcpu=" + core);
    INTARSIA_CHECK(target.ok(), "a core of the table");
    target_ = target->host();
  }

  void add(graph::Module module, LoweringOptions::Optimise optimise = LoweringOptions::Optimise::Balanced) {
    LoweringOptions lowering;
    lowering.optimise = optimise;
    const Result<tir::LoweredFunction> lowered =
        registry_.kind_of(target_).graph_to_tir(target_, module, module.entry_function(), lowering);
    ASSERT_TRUE(lowered.ok()) << lowered.error().to_string();
    const std::string prefix = fmt::format("m{}_", modules_.size());
    for (const tir::Constant& constant : lowered->module.constants)
      text_ += *emission::emit_c_constant(constant, prefix, {emission::CLinkage::Static, 4, ""});
    const tir::Func& leaf = lowered->module.funcs[0];
    emission::CFunctionOptions options{prefix, {}, targets::cortex_m::kernel_structs()};
    const Result<std::string> function = emission::emit_c_function(lowered->module, leaf, options);
    ASSERT_TRUE(function.ok()) << function.error().to_string();
    tuned_ += function->find("static const struct intarsia_") != std::string::npos;
    text_ += *function + fmt::format("void {0}run(void **p);\nvoid {0}run(void **p) {{\n  {0}{1}(", prefix, leaf.name);
    size_t scratch = 0, parameters = leaf.parameters.size();
    for (const tir::Buffer& buffer : leaf.buffers)
      if (buffer.scope == tir::Scope::Local) scratch += static_cast<size_t>(buffer.bytes()), ++parameters;
    for (size_t i = 0; i < parameters; ++i) text_ += fmt::format("{}p[{}]", i == 0 ? "" : ", ", i);
    text_ += ");\n}\n";
    scratch_.push_back(scratch);
    modules_.push_back(std::move(module));
  }

  size_t tuned() const { return tuned_; }
  bool calls(const std::string& kernel) const { return text_.find(" " + kernel + "(") != std::string::npos; }
  size_t count() const { return modules_.size(); }

  void check(const std::string& compiler = "gcc") {
    const std::string sources = INTARSIA_CORTEX_M_DEVICE, views = INTARSIA_CORTEX_M_VIEWS;
    const std::string portable = INTARSIA_KERNELS_DIR;
    const testing::CProgram program(
        compiler,
        "#include <stdint.h>\n#include \"intarsia_kernels/kernels.h\"\n#include \"cortex_m/kernels.h\"\n" + text_,
        fmt::format("-O1 -I{0}/isa -I{0}/device -I{1}/include {2}/*.c {1}/src/*.c", views, portable, sources));
    ASSERT_TRUE(program.ok()) << program.errors();
    Random random(7);
    for (size_t i = 0; i < modules_.size(); ++i) {
      SCOPED_TRACE(fmt::format("case {}\n{}", i, graph::print(modules_[i])));
      auto* run = program.find<void(void**)>(fmt::format("m{}_run", i));
      ASSERT_NE(run, nullptr);
      std::vector<graph::TensorValue> inputs = testing::random_inputs(random, modules_[i]);
      graph::Evaluator evaluator(modules_[i]);
      const Result<std::vector<graph::TensorValue>> expected = evaluator.run(inputs);
      ASSERT_TRUE(expected.ok());
      // Memory around the tensors is not the kernel's: none of it may change.
      std::vector<uint8_t> output((*expected)[0].size() + 32, 0xCD), scratch(scratch_[i] + 32, 0xCD);
      std::vector<void*> arguments;
      for (graph::TensorValue& input : inputs) arguments.push_back(input.data());
      arguments.push_back(output.data());
      arguments.push_back(scratch.data());
      run(arguments.data());
      ASSERT_TRUE(std::equal((*expected)[0].begin(), (*expected)[0].end(), output.begin()));
      for (size_t end = 0; end < 32; ++end) {
        ASSERT_EQ(output[output.size() - 1 - end], 0xCD);
        ASSERT_EQ(scratch[scratch.size() - 1 - end], 0xCD);
      }
    }
  }

 private:
  TargetRegistry registry_;
  Target target_;
  std::string text_;
  std::vector<graph::Module> modules_;
  std::vector<size_t> scratch_;
  size_t tuned_ = 0;
};

class EveryCore : public ::testing::TestWithParam<const char*> {};

graph::Activation any_activation(Random& random) {
  return random.pick<graph::Activation>(
      {graph::Activation::None, graph::Activation::Relu, graph::Activation::Relu6, graph::Activation::ReluN1To1});
}

TEST_P(EveryCore, SmallConvolutions) {
  Kernels kernels(GetParam());
  Random random(1);
  for (int64_t kernel = 1; kernel <= 3; ++kernel)
    for (int64_t size = 1; size <= 4; ++size)
      for (int64_t channels = 1; channels <= 5; ++channels)
        for (int64_t stride = 1; stride <= 2; ++stride) {
          WindowCase c{OpKind::Conv2d, 1, size, 5 - size, channels, 1 + (size + channels) % 6, kernel, 4 - kernel, stride};
          c.padding = {random.range(0, kernel - 1), random.range(0, 3 - kernel), random.range(0, 2), random.range(0, 3)};
          if (c.height + c.padding.top + c.padding.bottom < c.kernel_h) c.padding.bottom = c.kernel_h;
          if (c.width + c.padding.left + c.padding.right < c.kernel_w) c.padding.right = c.kernel_w;
          c.activation = any_activation(random);
          kernels.add(window_module(random, c));
        }
  kernels.check();
}

TEST_P(EveryCore, LargerConvolutions) {
  Kernels kernels(GetParam());
  Random random(2);
  for (int i = 0; i < 60; ++i) {
    WindowCase c{OpKind::Conv2d, random.range(1, 2), random.range(4, 12), random.range(4, 12), random.range(1, 40),
                 random.range(1, 20), random.range(1, 4), random.range(1, 4), random.range(1, 3)};
    c.dilation_h = c.kernel_h == 2 ? random.range(1, 3) : 1;
    c.padding = {random.range(0, 2), random.range(0, 2), random.range(0, 2), random.range(0, 2)};
    c.activation = any_activation(random);
    c.small_multipliers = i % 5 != 0;
    kernels.add(window_module(random, c));
  }
  kernels.check();
}

TEST_P(EveryCore, DepthwiseConvolutions) {
  Kernels kernels(GetParam());
  Random random(3);
  for (int64_t kernel_h = 1; kernel_h <= 5; ++kernel_h)
    for (int64_t kernel_w = 1; kernel_w <= 5; ++kernel_w)
      for (const int64_t channels : {1, 2, 3, 4, 6, 8, 16, 21, 32}) {
        WindowCase c{OpKind::DepthwiseConv2d, random.range(1, 2), random.range(2, 9), random.range(2, 9), channels,
                     channels * (channels <= 2 ? random.range(1, 5) : 1), kernel_h, kernel_w, random.range(1, 3)};
        c.padding = {random.range(0, kernel_h - 1), random.range(0, kernel_w - 1), kernel_h, kernel_w};
        c.activation = any_activation(random);
        c.small_multipliers = !random.chance(15);
        kernels.add(window_module(random, c));
      }
  kernels.check();
}

TEST_P(EveryCore, DilatedDepthwiseConvolutionsAndMultipliers) {
  Kernels kernels(GetParam());
  Random random(9);
  for (int i = 0; i < 60; ++i) {
    WindowCase c{OpKind::DepthwiseConv2d, random.range(1, 2), random.range(7, 14), random.range(7, 14),
                 random.range(2, 12), 0, random.range(1, 4), random.range(1, 4), random.range(1, 3)};
    c.out_channels = c.channels * random.range(1, 3);
    c.dilation_h = random.range(1, 2), c.dilation_w = random.range(1, 2);
    c.padding = {random.range(0, 2), random.range(0, 2), random.range(0, 2), random.range(0, 2)};
    c.activation = any_activation(random);
    c.small_multipliers = i % 5 != 0;
    kernels.add(window_module(random, c));
  }
  kernels.check();
}

TEST_P(EveryCore, FullyConnected) {
  Kernels kernels(GetParam());
  Random random(4);
  for (int64_t inputs = 1; inputs <= 40; ++inputs)
    kernels.add(fully_connected_module(random, inputs % 7 == 0 ? 5 : 1, inputs, 1 + inputs % 9));
  kernels.add(fully_connected_module(random, 1, 640, 128));
  kernels.add(fully_connected_module(random, 3, 129, 33));
  kernels.check();
}

TEST_P(EveryCore, Additions) {
  Kernels kernels(GetParam());
  Random random(8);
  for (int i = 0; i < 150; ++i) {
    const graph::Module module = testing::random_operator(random, OpKind::Add, DataType::Int8);
    const graph::Function& function = module.entry_function();
    if (!standard_lowering_refuses(module, function, function.nodes[0])) kernels.add(module);
  }
  kernels.check();
}

TEST_P(EveryCore, ClangCompilesThemWithoutAWarning) {
  const std::vector<std::string> compilers = testing::c_compilers();
  if (std::find(compilers.begin(), compilers.end(), "clang") == compilers.end()) GTEST_SKIP() << "clang is not installed";
  Kernels kernels(GetParam());
  Random random(5);
  kernels.add(window_module(random, {OpKind::Conv2d, 1, 6, 6, 8, 12, 3, 3, 1}));
  kernels.add(window_module(random, {OpKind::DepthwiseConv2d, 1, 6, 6, 16, 16, 3, 3, 1}));
  kernels.check("clang");
}

// Shapes of networks do not fall back to loops.
TEST_P(EveryCore, TakesWhatNetworksAreMadeOf) {
  Kernels kernels(GetParam());
  Random random(6);
  kernels.add(window_module(random, {OpKind::Conv2d, 1, 12, 10, 1, 64, 10, 4, 2}));
  kernels.add(window_module(random, {OpKind::Conv2d, 1, 9, 9, 3, 8, 3, 3, 2}));
  kernels.add(window_module(random, {OpKind::Conv2d, 1, 5, 5, 64, 64, 1, 1, 1}));
  kernels.add(fully_connected_module(random, 1, 64, 12));
  kernels.add(window_module(random, {OpKind::DepthwiseConv2d, 1, 5, 5, 64, 64, 3, 3, 1}));
  kernels.add(window_module(random, {OpKind::DepthwiseConv2d, 1, 9, 9, 24, 24, 5, 5, 2}));
  EXPECT_EQ(kernels.tuned(), kernels.count());
  kernels.check();
}

// Small code shares the kernel for limited results; otherwise each range has its own.
TEST(Optimise, SizeSharesKernels) {
  for (const auto optimise : {LoweringOptions::Optimise::Size, LoweringOptions::Optimise::Speed}) {
    Kernels kernels("cortex-m4");
    Random random(10);
    WindowCase c{OpKind::Conv2d, 1, 6, 6, 8, 12, 3, 3, 1};
    kernels.add(window_module(random, c), optimise);
    c.activation = graph::Activation::ReluN1To1;
    kernels.add(window_module(random, c), optimise);
    EXPECT_TRUE(kernels.calls("intarsia_dsp_conv_limited_s8"));
    EXPECT_EQ(kernels.calls("intarsia_dsp_conv_s8"), optimise == LoweringOptions::Optimise::Speed);
    kernels.check();
  }
}

INSTANTIATE_TEST_SUITE_P(CortexM, EveryCore, ::testing::Values("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m55"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace intarsia::test::cortex_m
