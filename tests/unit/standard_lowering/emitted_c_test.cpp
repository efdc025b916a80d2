// The same modules as C: compiled without a warning, called, and equal to the evaluator. In-place
// functions are also called with the output in the place of the input.
#include <functional>

#include <fmt/format.h>

#include "emission/c_constant.h"
#include "intarsia/plugin/c_function.h"
#include "lowering_testing.h"
#include "support/c_program.h"

namespace intarsia::testing {

namespace {

constexpr uint32_t kSeeds = 10;

std::string prefix(uint32_t seed) {
  return fmt::format("m{}_", seed);
}

// The kernel functions of a module and a run function that takes all parameters of kernel 0 as one
// array.
std::string c_text(const tir::Module& module, const std::string& prefix) {
  std::string text;
  for (const tir::Constant& constant : module.constants) {
    text += *emission::emit_c_constant(constant, prefix, {emission::CLinkage::Static});
  }
  const tir::Func& kernel = module.funcs[0];
  const Result<std::string> function = emission::emit_c_function(module, kernel, {prefix, {}});
  EXPECT_TRUE(function.ok()) << (function.ok() ? "" : function.error().to_string());
  if (!function.ok()) return text;
  text += *function;
  text += "void " + prefix + "run(void **p);\nvoid " + prefix + "run(void **p) {\n  " + prefix +
          kernel.name + "(";
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    text += (i == 0 ? "p[" : ", p[") + std::to_string(i) + "]";
  }
  return text + ");\n}\n";
}

class EmittedC : public ::testing::TestWithParam<Case> {};

TEST_P(EmittedC, EqualsTheEvaluator) {
  std::string text =
      "#include <stdbool.h>\n#include <stdint.h>\n#include \"intarsia/kernels/kernels.h\"\n";
  std::vector<graph::Module> modules;
  std::vector<tir::LoweredFunction> lowered;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    Random random(seed + 1000);
    modules.push_back(lowerable_operator(random, GetParam()));
    lowered.push_back(*standard_graph_to_tir(modules.back(), modules.back().entry_function()));
    text += c_text(lowered.back().module, prefix(seed));
  }
  const CProgram program("gcc", text,
                         "-ffp-contract=off -Wno-unused-function -I" INTARSIA_KERNELS_DIR
                         "/include -Wl,--whole-archive " INTARSIA_KERNELS_LIBRARY
                         " -Wl,--no-whole-archive");
  ASSERT_TRUE(program.ok()) << program.errors() << text;

  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    Random random(seed + 2000);
    const graph::Module& module = modules[seed - 1];
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + graph::print(module));
    const tir::Func& kernel = lowered[seed - 1].module.funcs[0];
    Values inputs = random_inputs(random, module);
    const Values expected = evaluate(module, inputs);
    const DataType type = kernel.buffers[kernel.parameters.size() - 1].type;
    auto* run = program.find<void(void**)>(prefix(seed) + "run");
    ASSERT_NE(run, nullptr);

    graph::TensorValue output(expected[0].size());
    std::vector<void*> arguments;
    for (graph::TensorValue& value : inputs) arguments.push_back(value.data());
    arguments.push_back(output.data());
    ASSERT_EQ(arguments.size(), kernel.parameters.size());
    run(arguments.data());
    ASSERT_TRUE(same_values(type, output, expected[0]));

    for (const tir::InPlace& pair : kernel.in_place) {
      graph::TensorValue& shared = inputs[static_cast<size_t>(pair.input)];
      const graph::TensorValue kept = shared;
      arguments[static_cast<size_t>(pair.output)] = shared.data();
      run(arguments.data());
      ASSERT_TRUE(same_values(type, shared, expected[0])) << "in the place of " << pair.input;
      shared = kept;
      arguments[static_cast<size_t>(pair.output)] = output.data();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Standard, EmittedC, ::testing::ValuesIn(supported_cases()), case_name);

}  // namespace

}  // namespace intarsia::testing
