#include "kernel_checks.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernel_cases.h"
#include "kernel_library.h"
#include "support/c_program.h"

namespace intarsia::test::cortex_m {

void check(const KernelProgram& kernels, const std::string& compiler,
           const MakeInputs& make_inputs) {
  const testing::CProgram program(compiler, kernels.text(), flags_with_kernels(compiler));
  ASSERT_TRUE(program.ok()) << program.errors();
  Random random(7);
  for (size_t i = 0; i < kernels.count(); ++i) {
    SCOPED_TRACE(fmt::format("case {}\n{}", i, graph::print(kernels.module(i))));
    auto* run = program.find<void(void**)>(fmt::format("m{}_run", i));
    ASSERT_NE(run, nullptr);
    std::vector<graph::TensorValue> inputs = make_inputs(random, kernels.module(i));
    graph::Evaluator evaluator(kernels.module(i));
    const Result<std::vector<graph::TensorValue>> expected = evaluator.run(inputs);
    ASSERT_TRUE(expected.ok());
    // Memory around the tensors is not the kernel's: none of it may change.
    constexpr size_t kGuard = 32;
    std::vector<uint8_t> output((*expected)[0].size() + kGuard, 0xCD);
    std::vector<std::vector<uint8_t>> scratch;
    std::vector<void*> arguments;
    for (graph::TensorValue& input : inputs) arguments.push_back(input.data());
    arguments.push_back(output.data());
    for (const size_t bytes : kernels.scratch(i)) scratch.emplace_back(bytes + kGuard, 0xCD);
    for (std::vector<uint8_t>& buffer : scratch) arguments.push_back(buffer.data());
    run(arguments.data());
    ASSERT_EQ(difference(kernels.module(i), output, (*expected)[0]), "");
    ASSERT_TRUE(std::all_of(output.end() - kGuard, output.end(),
                            [](uint8_t byte) { return byte == 0xCD; }));
    for (size_t further = 1; further < expected->size(); ++further)
      ASSERT_TRUE(std::equal((*expected)[further].begin(), (*expected)[further].end(),
                             scratch[further - 1].begin()));
    for (const std::vector<uint8_t>& buffer : scratch)
      ASSERT_TRUE(std::all_of(buffer.end() - kGuard, buffer.end(),
                              [](uint8_t byte) { return byte == 0xCD; }));
    for (const tir::InPlace& pair : kernels.in_place(i)) {
      SCOPED_TRACE(fmt::format("in place of input {}", pair.input));
      const auto input = static_cast<size_t>(pair.input);
      std::vector<uint8_t> shared = inputs[input];
      shared.resize(output.size(), 0xCD);
      arguments[input] = arguments[inputs.size()] = shared.data();
      run(arguments.data());
      ASSERT_EQ(difference(kernels.module(i), shared, (*expected)[0]), "");
      ASSERT_TRUE(std::all_of(shared.end() - kGuard, shared.end(),
                              [](uint8_t byte) { return byte == 0xCD; }));
      arguments[input] = inputs[input].data();
    }
  }
}

}  // namespace intarsia::test::cortex_m
