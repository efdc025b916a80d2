// Loops over vectors compute what the loops of the tensor IR do: random sums side by side as functions in this process, with
// what machines of this kind have, against the interpreter; and random networks against kind c.
#include <gtest/gtest.h>

#include <cstring>

#include <fmt/format.h>

#include "compiler/function_ir.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/engine.h"
#include "intarsia/plugin/tir_build.h"
#include "intarsia/targets/llvm/load_component.h"
#include "needs_llvm.h"
#include "support/operators_on_devices.h"
#include "support/random_network.h"
#include "support/tir_interpreter.h"

namespace intarsia::targets::llvm {
namespace {

using intarsia::testing::Random;

// What this kind of machine may have: its extensions, as -mattr has them. All of them run here, or are left out.
const std::vector<std::string>& machines_here() {
  static const std::vector<std::string> found = [] {
    std::vector<std::string> all = {"", "native"};
#if defined(__x86_64__)
    all.insert(all.end(), {"+avx2", "+avx512bw,+avx512vl", "+sse4.1"});
#endif
    return all;
  }();
  return found;
}

struct Machine {
  std::string triple, features;
  intarsia_llvm_machine asked() const { return {triple.c_str(), "", features.c_str()}; }
};

Machine machine_of(const std::string& extensions) {
#if defined(__x86_64__)
  if (extensions != "native") return {"x86_64-unknown-linux-gnu", extensions};
#elif defined(__aarch64__)
  if (extensions != "native") return {"aarch64-unknown-linux-gnu", extensions};
#endif
  return {};
}

void take_text(void* context, const char* bytes, size_t size) {
  static_cast<std::string*>(context)->append(bytes, size);
}

// A function that takes its buffers from an array, as code of this process.
class Native {
 public:
  Native(const Component& component, const Machine& machine, const intarsia_llvm_facts& facts,
         const tir::Func& func)
      : component_(component) {
    tir::Module module;
    module.name = "m";
    ModuleIr shared{module,
                    {facts.typed_pointers != 0, facts.pointer_bits, true, facts.vector_bits,
                     facts.permutes != 0, facts.pair_bits},
                    "m_"};
    const Result<std::string> kernel = kernel_text(shared, func);
    if (!kernel.ok()) {
      problem_ = kernel.error().to_string();
      return;
    }
    const std::string bytes = byte_pointer(shared.dialect);
    const std::string table = pointer_type(shared.dialect, bytes);
    std::string arguments;
    text_ = *kernel + fmt::format("define void @run({} %buffers) {{\n", table);
    for (size_t i = 0; i < func.parameters.size(); ++i) {
      text_ += fmt::format("  %a{0} = getelementptr {1}, {2} %buffers, i32 {0}\n", i, bytes, table);
      text_ += fmt::format("  %b{0} = load {1}, {2} %a{0}\n", i, bytes, table);
      arguments += fmt::format("{}{} %b{}", i == 0 ? "" : ", ", bytes, i);
    }
    text_ += fmt::format("  call void @m_{}({})\n  ret void\n}}\n", func.name, arguments);
    for (const auto& [name, declaration] : shared.helpers)
      text_ = "declare " + declaration + "\n" + text_;
    const intarsia_llvm_machine asked = machine.asked();
    const intarsia_llvm_module code{text_.data(), text_.size(), nullptr, 0};
    std::string object;
    if (component.compile(&asked, &code, take_text, &object) != 0) {
      problem_ = object + "\n" + text_;
      return;
    }
    code_ = component.load(object.data(), object.size(), take_text, &problem_);
  }
  Native(const Native&) = delete;
  Native& operator=(const Native&) = delete;
  ~Native() {
    if (code_ != nullptr) component_.unload(code_);
  }

  const std::string& problem() const { return problem_; }
  const std::string& text() const { return text_; }
  void run(std::vector<uint8_t*> buffers) const {
    reinterpret_cast<void (*)(uint8_t**)>(component_.find(code_, "run"))(buffers.data());
  }

 private:
  Component component_;
  intarsia_llvm_code* code_ = nullptr;
  std::string problem_, text_;
};

// ---- sums side by side ---------------------------------------------------------------------------

struct LoopShape {
  int64_t sums, rows, most;  // most: iterations of the innermost loop
  DataType x, w, sum;
  int64_t zero_point;
  bool own_inputs;  // each sum has an input of its own, as in a depthwise convolution
};

LoopShape random_shape(Random& random) {
  LoopShape shape;
  shape.sums = random.pick<int64_t>({2, 4, 4, 8, 3, 16});
  shape.rows = random.range(1, 3);
  shape.most = random.range(1, 70);
  shape.x = random.pick<DataType>(
      {DataType::Int8, DataType::Int8, DataType::UInt8, DataType::Int16, DataType::Float32});
  shape.w = shape.x == DataType::Float32 ? DataType::Float32 : DataType::Int8;
  shape.sum = shape.x == DataType::Float32 ? DataType::Float32
              : random.chance(25)          ? DataType::Int64
                                           : DataType::Int32;
  // Of which the last leaves no room in 16 bits.
  shape.zero_point = random.pick<int64_t>({0, -128, 127, 5, 40000});
  shape.own_inputs = random.chance(30);
  return shape;
}

// bounds: where the innermost loop begins and ends.
tir::Func sums(const LoopShape& shape) {
  tir::FuncBuilder b("sums");
  const bool real = shape.sum == DataType::Float32;
  const int64_t wide = shape.own_inputs ? shape.sums : 1;
  const tir::BufferId x = b.parameter("x", shape.x, {shape.rows, shape.most * wide},
                                      tir::Access::Read, (bits(shape.x) + 7) / 8);
  const tir::BufferId w = b.parameter("w", shape.w, {shape.rows, shape.most, shape.sums},
                                      tir::Access::Read, (bits(shape.w) + 7) / 8);
  const tir::BufferId bounds = b.parameter("bounds", DataType::Int32, {2}, tir::Access::Read, 4);
  const tir::BufferId out =
      b.parameter("out", shape.sum, {shape.sums}, tir::Access::Write, bits(shape.sum) / 8);
  std::vector<tir::BufferId> acc;
  std::vector<tir::Stmt> body, results;
  for (int64_t k = 0; k < shape.sums; ++k) {
    acc.push_back(b.register_("acc" + std::to_string(k), shape.sum));
    body.push_back(b.store(
        acc.back(), {},
        real ? tir::float_imm(0.5f * static_cast<float>(k)) : tir::int_imm(1000 * k, shape.sum)));
    results.push_back(b.store(out, {tir::int_imm(k)}, b.load(acc.back())));
  }
  const auto centred = [&](const tir::Expr& value) {
    return real ? value : tir::cast(DataType::Int32, value) - shape.zero_point;
  };
  const auto product = [&](const tir::Expr& input, const tir::Expr& weight) {
    if (real) return input * weight;
    return tir::cast(shape.sum, input * tir::cast(DataType::Int32, weight));
  };
  body.push_back(b.loop("row", shape.rows, [&](const tir::Expr& row) {
    return b.loop(
        "i", b.load(bounds, {tir::int_imm(0)}), b.load(bounds, {tir::int_imm(1)}),
        [&](const tir::Expr& i) {
          std::vector<tir::Stmt> stores;
          const auto add = [&](const auto& input) {
            for (int64_t k = 0; k < shape.sums; ++k)
              stores.push_back(
                  b.store(acc[static_cast<size_t>(k)], {},
                          b.load(acc[static_cast<size_t>(k)]) +
                              product(input(k), b.load(w, {row, i, tir::int_imm(k)}))));
            return tir::seq(stores);
          };
          if (shape.own_inputs)
            return add([&](int64_t k) { return centred(b.load(x, {row, i * wide + k})); });
          return b.let("in", centred(b.load(x, {row, i})),
                       [&](const tir::Expr& in) { return add([&](int64_t) { return in; }); });
        });
  }));
  body.insert(body.end(), results.begin(), results.end());
  return b.finish(tir::seq(std::move(body)));
}

// Bytes of random elements, at an address that is no more aligned than the element.
class Block {
 public:
  Block(Random& random, DataType type, int64_t count)
      : element_(static_cast<size_t>(bits(type) / 8)),
        bytes_(64 + element_ * static_cast<size_t>(count)),
        size_(element_ * static_cast<size_t>(count)) {
    for (uint8_t& byte : bytes_) byte = static_cast<uint8_t>(random.range(0, 255));
    const auto address = reinterpret_cast<uintptr_t>(bytes_.data());
    begin_ = bytes_.data() + (32 - address % 32) + element_;
    for (int64_t i = 0; i < count && type == DataType::Float32; ++i) {
      const float value = random.real(-2, 2);
      std::memcpy(begin_ + static_cast<size_t>(i) * element_, &value, sizeof value);
    }
  }
  std::span<uint8_t> span() { return {begin_, size_}; }

 private:
  size_t element_;
  std::vector<uint8_t> bytes_;
  uint8_t* begin_ = nullptr;
  size_t size_;
};

class VectorLoops : public ::testing::TestWithParam<std::string> {};

TEST_P(VectorLoops, ComputeWhatTheirLoopsDo) {
  INTARSIA_NEEDS_LLVM();
  const Result<Component> component = the_component();
  ASSERT_TRUE(component.ok()) << component.error().to_string();
  const Machine machine = machine_of(GetParam());
  const intarsia_llvm_machine asked = machine.asked();
  intarsia_llvm_facts facts{};
  std::string problem;
  ASSERT_EQ(component->describe(&asked, &facts, take_text, &problem), 0) << problem;
  if (facts.runs_here == 0)
    GTEST_SKIP() << test::needs("x86-vectors") << "this processor has no " << GetParam();
  Random random(7);
  int vectors = 0, pairs = 0;
  for (int trial = 0; trial < 24; ++trial) {
    const LoopShape shape = random_shape(random);
    const tir::Func func = sums(shape);
    const Native native(*component, machine, facts, func);
    ASSERT_EQ(native.problem(), "");
    vectors += native.text().find(fmt::format("phi <{} x ", shape.sums)) != std::string::npos;
    pairs += native.text().find("llvm.x86.") != std::string::npos;
    const int64_t wide = shape.own_inputs ? shape.sums : 1;
    Block x(random, shape.x, shape.rows * shape.most * wide),
        w(random, shape.w, shape.rows * shape.most * shape.sums),
        expected(random, shape.sum, shape.sums), computed(random, shape.sum, shape.sums);
    tir::Module module;
    module.funcs = {func};
    for (int range = 0; range < 6; ++range) {
      int32_t bounds[2] = {static_cast<int32_t>(random.range(0, shape.most - 1)), 0};
      // Also loops of no iteration.
      bounds[1] = static_cast<int32_t>(random.range(bounds[0] - (bounds[0] > 0), shape.most));
      if (range == 0) bounds[0] = 0, bounds[1] = static_cast<int32_t>(shape.most);
      auto* raw = reinterpret_cast<uint8_t*>(bounds);
      const Result<void> ran = intarsia::testing::TirInterpreter(module).run(
          "sums", {x.span(), w.span(), {raw, sizeof bounds}, expected.span()});
      ASSERT_TRUE(ran.ok()) << ran.error().to_string();
      native.run({x.span().data(), w.span().data(), raw, computed.span().data()});
      ASSERT_TRUE(std::ranges::equal(computed.span(), expected.span()))
          << "trial " << trial << ", iterations " << bounds[0] << " to " << bounds[1] << "\n"
          << tir::print(func) << native.text();
    }
  }
  EXPECT_EQ(vectors > 12, facts.vector_bits > 0);
  EXPECT_EQ(pairs > 0, facts.pair_bits > 0);
}

std::string name_of(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.empty() ? "baseline" : info.param;
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Machines, VectorLoops, ::testing::ValuesIn(machines_here()), name_of);

// ---- networks ------------------------------------------------------------------------------------

class RandomNetworks : public ::testing::TestWithParam<std::string> {};

TEST_P(RandomNetworks, ComputeWhatCComputes) {
  INTARSIA_NEEDS_LLVM();
  TargetRegistry registry;
  EngineRegistry engines;
  add_builtin_targets(registry);
  add_builtin_engine(engines);
  const Machine machine = machine_of(GetParam());
  std::string text = "llvm";
  if (!machine.triple.empty()) text += " -mtriple=" + machine.triple;
  if (!machine.features.empty()) text += " -mattr=" + machine.features;
  const auto ran = [&](const graph::Module& module, const std::string& target,
                       const std::vector<graph::TensorValue>& inputs, bool eliminates) {
    std::vector<Engine::Bytes> results;
    const Result<TargetSpec> spec = parse_target(registry.catalogue(), target);
    EXPECT_TRUE(spec.ok()) << target;
    CompileOptions options = test::options_with_ram();
    options.lowering.eliminate_dead_channels = eliminates;
    const Result<CompiledModel> model = compile_module(module, registry, *spec, options);
    EXPECT_TRUE(model.ok()) << model.error().to_string();
    if (!model.ok()) return results;
    Result<Engine> engine = Engine::make(*model, engines);
    EXPECT_TRUE(engine.ok()) << engine.error().to_string();
    std::vector<std::span<const uint8_t>> bytes;
    for (const graph::TensorValue& input : inputs) bytes.push_back(input);
    Result<std::vector<Engine::Bytes>> made = engine.value().run(bytes);
    EXPECT_TRUE(made.ok());
    return made.ok() ? *std::move(made) : results;
  };
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    Random random(seed);
    const DataType type = seed % 4 == 0 ? DataType::Int16 : DataType::Int8;
    // Channels in fours, and in any number.
    intarsia::testing::NetworkSizes sizes;
    if (seed % 2 == 0) sizes.channel_unit = 4;
    const graph::Module module = intarsia::testing::random_network(random, type, sizes);
    const std::vector<graph::TensorValue> inputs = intarsia::testing::random_inputs(random, module);
    const auto expected = ran(module, "c", inputs, true);
    EXPECT_EQ(ran(module, text, inputs, true), expected) << "seed " << seed;
    EXPECT_EQ(ran(module, text, inputs, false), expected) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, RandomNetworks, ::testing::ValuesIn(machines_here()), name_of);

}  // namespace
}  // namespace intarsia::targets::llvm
