// Random modules cut over random devices: the stages, run whenever their channels let them and in any order, compute
// what the module computes, and never wait for each other.
#include <gtest/gtest.h>

#include <deque>
#include <set>

#include <fmt/format.h>

#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"
#include "multicore/multicore.h"
#include "support/random_operator.h"

namespace intarsia {
namespace {

using graph::TensorId;
using testing::Random;
using Values = std::vector<graph::TensorValue>;

constexpr size_t kRoom = 2;  // messages in a channel
constexpr int kInferences = 5;

// Vectors of two numbers, and one flag; some results have several readers, some none, some outputs are inputs or come
// twice, state goes from one inference to the next.
class RandomModule {
 public:
  explicit RandomModule(Random& random) : random_(random) {}

  graph::Module make() {
    const int inputs = static_cast<int>(random_.range(0, 3)),
              variables = static_cast<int>(random_.range(0, 2));
    for (int i = 0; i < inputs; ++i) inputs_.push_back(declare("f32[2]", ""));
    constants_ = declare("f32[2]", " = @0");
    const std::string flag = declare("bool[1]", " = @1");
    for (int i = 0; i < variables; ++i)
      variables_.push_back(
          {declare("f32[2]", random_.chance(50) ? " variable initial @0" : " variable"), false});
    const int64_t operators = random_.range(2, 12);
    for (int64_t n = 0; n < operators; ++n) add_operator(flag);
    std::vector<std::string> outputs;
    for (int64_t n = random_.range(1, 3); n > 0; --n)
      outputs.push_back(random_.chance(80) ? made_.back() : value());
    outputs.push_back(random_.pick(made_));
    const std::string text = fmt::format(
        "intarsia.graph random\nconst @0 two = f32[3, -1]\nconst @1 yes = bool[true]\nfunc "
        "@main({}) -> ({}) {{\n{}{}}}\n"
        "func @minus(%0) -> (%1) {{\n  %0 x: f32[2]\n  %1 y: f32[2]\n  neg inside(%0) -> (%1)\n}}\n"
        "func @same(%0) -> (%0) {{\n  %0 x: f32[2]\n}}\nentry @main\n",
        fmt::join(inputs_, ", "), fmt::join(outputs, ", "), declarations_, operators_);
    Result<graph::Module> module = graph::parse(text);
    INTARSIA_CHECK(module.ok(), module.error().to_string() + text);
    const Result<void> sound = graph::verify(*module);
    INTARSIA_CHECK(sound.ok(), sound.error().to_string() + text);
    return *module;
  }

 private:
  std::string declare(const std::string& type, const std::string& more) {
    declarations_ += fmt::format("  %{0} t{0}: {1}{2}\n", tensors_, type, more);
    return fmt::format("%{}", tensors_++);
  }

  std::string value() {
    std::vector<std::string> all = inputs_;
    all.push_back(constants_);
    all.insert(all.end(), made_.begin(), made_.end());
    return random_.pick(all);
  }

  void add_operator(const std::string& flag) {
    const int64_t what = random_.range(0, 9);
    if (what <= 2 && !variables_.empty()) {
      auto& [variable, written] = variables_[static_cast<size_t>(
          random_.range(0, static_cast<int64_t>(variables_.size()) - 1))];
      if (what == 0 && !written && !made_.empty()) {
        operators_ += fmt::format("  assign_variable op{}({}) -> ({})\n", count_++,
                                  random_.pick(made_), variable);
        written = true;
        return;
      }
      return result(fmt::format("read_variable op{}({})", count_, variable), "");
    }
    if (what == 3)
      return result(fmt::format("if op{}({}, {})", count_, flag, value()),
                    " {then_branch=minus, else_branch=same}");
    if (what <= 6)
      return result(
          fmt::format("{} op{}({})", random_.chance(50) ? "relu" : "neg", count_, value()), "");
    const std::string left = value(), right = value();
    result(
        fmt::format("{} op{}({}, {})", random_.chance(50) ? "add" : "maximum", count_, left, right),
        "");
  }

  void result(const std::string& call, const std::string& attributes) {
    made_.push_back(declare("f32[2]", ""));
    operators_ += fmt::format("  {} -> ({}){}\n", call, made_.back(), attributes);
    ++count_;
  }

  Random& random_;
  int tensors_ = 0, count_ = 0;
  std::vector<std::string> inputs_, made_;
  std::string constants_, declarations_, operators_;
  std::vector<std::pair<std::string, bool>> variables_;  // and whether it is written
};

// The cores of a model as one thread that does something possible at random.
class Cores {
 public:
  Cores(const MulticorePartition& multicore, Random& random)
      : multicore_(multicore), random_(random), waiting_(multicore.channels.size()) {
    for (const Segment& segment : multicore.segments) evaluators_.emplace_back(segment.module);
    for (size_t c = 0; c < waiting_.size(); ++c)
      if (!multicore.channels[c].first_message.empty())
        waiting_[c].push_back(multicore.channels[c].first_message);
  }

  // What the application collects; fewer when the stages wait for each other.
  std::vector<Values> run(const std::vector<Values>& inputs, size_t outputs) {
    std::vector<Values> collected;
    size_t submitted = 0;
    while (collected.size() < inputs.size()) {
      std::vector<int> possible;
      for (int stage = kApplication; stage < static_cast<int>(multicore_.segments.size()); ++stage)
        if (stage != kApplication && can_run(stage)) possible.push_back(stage);
      const bool can_submit = submitted < inputs.size() && has_room(kApplication),
                 can_collect = has_messages(kApplication);
      if (can_submit) possible.push_back(-2);
      if (can_collect) possible.push_back(-3);
      if (possible.empty()) return collected;
      const int chosen = random_.pick(possible);
      if (chosen == -2) {
        send(kApplication, inputs[submitted++]);
      } else if (chosen == -3) {
        collected.push_back(receive(kApplication, outputs));
      } else {
        const Segment& segment = multicore_.segments[static_cast<size_t>(chosen)];
        const Values given = receive(chosen, segment.module.entry_function().inputs.size());
        const Result<Values> made = evaluators_[static_cast<size_t>(chosen)].run(given);
        INTARSIA_CHECK(made.ok(), made.error().to_string());
        send(chosen, *made);
      }
    }
    return collected;
  }

 private:
  template <typename Matches, typename Holds>
  bool all_channels(const Matches& matches, const Holds& holds) const {
    for (size_t c = 0; c < waiting_.size(); ++c)
      if (matches(multicore_.channels[c]) && !holds(waiting_[c])) return false;
    return true;
  }
  bool has_room(int from) const {
    return all_channels([&](const Channel& c) { return c.from == from; },
                        [](const auto& w) { return w.size() < kRoom; });
  }
  bool has_messages(int to) const {
    return all_channels([&](const Channel& c) { return c.to == to; },
                        [](const auto& w) { return !w.empty(); });
  }
  bool can_run(int stage) const { return has_room(stage) && has_messages(stage); }

  Values receive(int to, size_t count) {
    Values values(count);
    for (size_t c = 0; c < waiting_.size(); ++c)
      if (multicore_.channels[c].to == to) {
        values[multicore_.channels[c].input] = waiting_[c].front();
        waiting_[c].pop_front();
      }
    return values;
  }
  void send(int from, const Values& values) {
    for (size_t c = 0; c < waiting_.size(); ++c)
      if (multicore_.channels[c].from == from)
        waiting_[c].push_back(values[multicore_.channels[c].output]);
  }

  const MulticorePartition& multicore_;
  Random& random_;
  std::deque<graph::Evaluator> evaluators_;
  std::vector<std::deque<graph::TensorValue>> waiting_;
};

constexpr const char* kTwoLayers = R"(intarsia.graph two
const @0 bias = i32[7]
const @1 weights = x"01020304"
func @main(%0) -> (%4) {
  %0 x: i8[1,4] q(0.5:0)
  %1 weights: i8[1,4] q(0.25) = @1
  %2 bias: i32[1] q(0.125) = @0
  %3 y: i8[1,1] q(0.5:1)
  %4 z: i8[1,1] q(0.5:-128)
  fully_connected first(%0, %1, %2) -> (%3)
  relu second(%3) -> (%4)
}
entry @main
)";

CompiledModel two_parts(const std::string& model) {
  TargetRegistry registry;
  add_builtin_targets(registry);
  const Result<TargetSpec> target = parse_target(registry.catalogue(), "a: c; b: c");
  const Result<graph::Module> module = graph::parse(model, "two.graph");
  EXPECT_TRUE(target.ok() && module.ok());
  CompileOptions options;
  options.partition.pins = {{"first", "a"}, {"second", "b"}};
  options.memory.pools = {{"ram", 0}};
  Result<CompiledModel> multicore_model = compile_module(*module, registry, *target, options);
  EXPECT_TRUE(multicore_model.ok()) << multicore_model.error().to_string();
  return std::move(multicore_model).value();
}

// The line of the contract that holds the signature.
std::string signature(const CompiledModel& parts) {
  const std::string text = mailbox_sources(parts)[0].text;
  const size_t at = text.find("#define TWO_MAILBOX_SIGNATURE");
  EXPECT_NE(at, std::string::npos);
  return text.substr(at, text.find('\n', at) - at);
}

std::string signature(std::string model, const std::string& what, const std::string& instead) {
  if (!what.empty()) model.replace(model.find(what), what.size(), instead);
  return signature(two_parts(model));
}

// Parts refuse each other when anything of the model is another one: its weights, a bias, a scale, or the size of what
// passes between them.
TEST(Mailbox, SignatureIsOfTheWholeCompilation) {
  const std::string one = signature(kTwoLayers, "", "");
  EXPECT_EQ(signature(kTwoLayers, "", ""), one);
  EXPECT_NE(signature(kTwoLayers, "01020304", "01020305"), one) << "a weight";
  EXPECT_NE(signature(kTwoLayers, "i32[7]", "i32[8]"), one) << "a bias";
  EXPECT_NE(signature(kTwoLayers, "y: i8[1,1] q(0.5:1)", "y: i8[1,1] q(0.5:2)"), one)
      << "a zero point";
  EXPECT_NE(signature(kTwoLayers, "x: i8[1,4] q(0.5:0)", "x: i8[1,4] q(0.5:1)"), one) << "an input";
}

// And when what passes between them is laid out in another way, whatever the stages' own sources say.
TEST(Mailbox, SignatureIsOfTheChannels) {
  const CompiledModel parts = two_parts(kTwoLayers);
  CompiledModel larger = parts, renamed = parts, turned = parts;
  ASSERT_GE(parts.multicore.channels.size(), 2u);
  larger.multicore.channels[0].bytes += 1;
  EXPECT_NE(signature(larger), signature(parts));
  renamed.multicore.channels[0].name += "_";
  EXPECT_NE(signature(renamed), signature(parts));
  std::swap(turned.multicore.channels[0].to, turned.multicore.channels[1].to);
  EXPECT_NE(signature(turned), signature(parts));
}

// Every part is a package of its own, with what a build of its own needs.
TEST(MulticorePackage, HasWhatEachFirmwareNeeds) {
  TargetRegistry registry;
  add_builtin_targets(registry);
  const Result<TargetSpec> target = parse_target(registry.catalogue(), "a: c; b: c");
  ASSERT_TRUE(target.ok());
  PackageOptions options;
  options.resource_root = INTARSIA_SOURCE_DIR;
  const Result<PackageContents> package =
      make_package(two_parts(kTwoLayers), registry, *target, options);
  ASSERT_TRUE(package.ok()) << package.error().to_string();
  std::set<std::string> paths;
  for (const SourceFile& file : package->files) paths.insert(file.path);
  for (const char* part : {"a", "b"})
    for (const std::string& file : {fmt::format("two_{}.c", part), fmt::format("two_{}.h", part),
                                    fmt::format("two_{}.mk", part), std::string("two_mailbox.h"),
                                    std::string("CMakeLists.txt"), std::string("manifest.json")})
      EXPECT_TRUE(paths.contains(fmt::format("{}/{}", part, file))) << part << "/" << file;
}

TEST(Split, StagesComputeWhatTheModuleComputesAndNeverWaitForEachOther) {
  TargetRegistry registry;
  add_builtin_targets(registry);
  const Result<TargetSpec> target = parse_target(registry.catalogue(), "a: c; b: c; d: c");
  ASSERT_TRUE(target.ok());
  int with_parts = 0, with_state = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const graph::Module module = RandomModule(random).make();
    PartitionOptions options;
    for (const graph::Node& node : module.entry_function().nodes)
      if (random.chance(90))
        options.pins[node.name] = random.pick(std::vector<std::string>{"a", "b", "d"});
    const Result<Partitioned> partitioned = partition(module, registry, *target, options);
    ASSERT_TRUE(partitioned.ok()) << partitioned.error().to_string() << graph::print(module);
    const Result<MulticorePartition> multicore =
        split_by_cpu(partitioned->module, registry, *target);
    ASSERT_TRUE(multicore.ok()) << multicore.error().to_string();
    if (multicore->segments.empty()) continue;
    for (const Segment& segment : multicore->segments) {
      const Result<void> sound = graph::verify(segment.module);
      ASSERT_TRUE(sound.ok()) << sound.error().to_string() << graph::print(segment.module);
    }
    std::vector<Values> inputs;
    for (int i = 0; i < kInferences; ++i) inputs.push_back(testing::random_inputs(random, module));
    graph::Evaluator whole(module);
    std::vector<Values> expected;
    for (const Values& values : inputs) {
      const Result<Values> made = whole.run(values);
      ASSERT_TRUE(made.ok());
      expected.push_back(*made);
    }
    ASSERT_EQ(Cores(*multicore, random).run(inputs, expected[0].size()), expected)
        << seed << graph::print(partitioned->module);
    ++with_parts;
    for (const Channel& channel : multicore->channels)
      with_state += channel.first_message.empty() ? 0 : 1;
  }
  EXPECT_GT(with_parts, 1000);
  EXPECT_GT(with_state, 100);
}

}  // namespace
}  // namespace intarsia
