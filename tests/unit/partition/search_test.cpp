// Policy cost: exact where it says so, bounded everywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "fake_kinds.h"
#include "partitioning/decision_order.h"
#include "partitioning/regions.h"
#include "search_problems.h"

namespace intarsia {
namespace {

using namespace testing_search;
using partitioning::Assignment;
using partitioning::CheapestAssignment;
using partitioning::SearchLimits;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;

// A host that takes everything, and two devices of which one takes most operators only in pairs. Transfers cost about
// as much as operators, and so does what neighbours save on most devices, so that none decides alone.
TargetRegistry drawn_registry(uint32_t seed) {
  using enum OpKind;
  TargetRegistry registry;
  const double transfer = static_cast<double>(seed % 7);
  registry.add(drawn_kind("cpu", Role::Cpu, seed * 3 + 1, {Relu, Add, Mul}, {}, 0, 0));
  registry.add(drawn_kind("npu", Role::Accelerator, seed * 5 + 2, {Relu},
                          {{Add, Relu}, {Mul, Add}, {Relu, Mul}, {Add, Mul}}, transfer, 0.25,
                          seed % 2 * 12));
  registry.add(drawn_kind("gpu", Role::Device, seed * 11 + 3, {Add, Mul}, {{Mul, Mul}},
                          transfer / 2 + 1, 0, seed % 3 * 5));
  return registry;
}

double microseconds_of(const Problem& problem, const Assignment& assignment) {
  return partitioning::microseconds(cost_of(problem.costs(), assignment).time);
}

void expect_cheapest(const Problem& problem, const std::string& what) {
  const Result<CheapestAssignment> found = problem.search();
  ASSERT_TRUE(found.ok()) << what;
  EXPECT_TRUE(found->search.is_exact) << what;
  EXPECT_TRUE(is_whole(problem, found->assignment)) << what;
  EXPECT_NEAR(microseconds_of(problem, found->assignment), *least_cost(problem), 1e-6) << what;
}

TEST(Search, FindsTheCheapestOfAllAssignmentsWithPairs) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const TargetRegistry registry = drawn_registry(seed);
    const Problem problem(registry,
                          random_graph(seed, 5 + static_cast<int>(seed % 2), 2 + seed % 5),
                          "cpu + npu + gpu");
    expect_cheapest(problem, fmt::format("seed {}", seed));
  }
}

TEST(Search, FindsTheCheapestOverTwoCpusWithDevicesOfTheirOwn) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const TargetRegistry registry = drawn_registry(seed);
    const Problem problem(registry, random_graph(seed, 5, 2 + seed % 4),
                          "a: cpu; x: npu; b: cpu; y: npu");
    expect_cheapest(problem, fmt::format("seed {}", seed));
  }
}

TEST(Search, KeepsPins) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const TargetRegistry registry = drawn_registry(seed);
    graph::Module module = random_graph(seed, 5, 3);
    module.functions[0].nodes[seed % 5].pin = "cpu";
    const Problem problem(registry, module, "cpu + npu + gpu");
    const Result<CheapestAssignment> found = problem.search();
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->assignment[seed % 5], 0) << "seed " << seed;
    EXPECT_TRUE(is_whole(problem, found->assignment)) << "seed " << seed;
    // Moving any other node alone gains nothing.
    const double cost = microseconds_of(problem, found->assignment);
    for (size_t n = 0; n < 5; ++n)
      for (int device = 0; device < 3; ++device) {
        Assignment other = found->assignment;
        other[n] = device;
        if (n != seed % 5 && is_whole(problem, other)) {
          EXPECT_GE(microseconds_of(problem, other), cost - 1e-6) << "seed " << seed;
        }
      }
  }
}

// A device that takes operators only in pairs, without a host that takes them: pieces must not overlap.
TEST(Search, PiecesDoNotOverlap) {
  using enum OpKind;
  TargetRegistry registry;
  registry.add(drawn_kind("cpu", Role::Cpu, 1, {Add}, {}, 0, 0));
  registry.add(drawn_kind("npu", Role::Accelerator, 2, {}, {{Relu, Relu}}, 1, 0));
  for (int count = 1; count <= 6; ++count) {
    GraphMaker maker;
    graph::TensorId last = maker.input();
    for (int n = 0; n < count; ++n) last = maker.relu(last);
    maker.leaves_are_outputs();
    const Problem problem(registry, maker.module, "cpu + npu");
    EXPECT_EQ(problem.search().ok(), count % 2 == 0) << count;
    EXPECT_EQ(least_cost(problem).has_value(), count % 2 == 0) << count;
  }
}

// Graphs wide enough for a search that keeps four placements: what it finds is an assignment, no worse than the
// priority policy's, and it says that there may be better ones, unless there are none.
TEST(Search, CutShortItSaysSoAndIsNoWorseThanPriority) {
  int cut = 0, worse = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    const TargetRegistry registry = drawn_registry(seed);
    const Problem problem(registry, random_graph(seed, 7, 6), "cpu + npu + gpu");
    SearchLimits few;
    few.most_kept = few.least_kept = 4;
    const Result<CheapestAssignment> found = problem.search(few);
    ASSERT_TRUE(found.ok());
    EXPECT_TRUE(is_whole(problem, found->assignment)) << "seed " << seed;
    EXPECT_LE(found->search.most_kept, 4);
    const double cost = microseconds_of(problem, found->assignment);
    EXPECT_LE(cost, microseconds_of(problem, *problem.by_priority())) << "seed " << seed;
    const double best = *least_cost(problem);
    EXPECT_GE(cost, best - 1e-6) << "seed " << seed;
    if (found->search.is_exact)
      EXPECT_NEAR(cost, best, 1e-6) << "seed " << seed;
    else
      ++cut, worse += cost > best + 1e-6;
  }
  EXPECT_GT(cut, 30);
  EXPECT_GT(worse, 0);  // or nothing here would need more than four
  EXPECT_LT(worse, cut / 2);
}

// ---- bounds ----

// `branches` operators on one input, and as many on those in an order that has nothing to do with the first: all
// placements of the first have to be told apart.
graph::Module entangled(int branches) {
  GraphMaker maker;
  const graph::TensorId in = maker.input();
  std::vector<graph::TensorId> first;
  for (int n = 0; n < branches; ++n) first.push_back(maker.relu(in));
  for (int a = 0; a < branches; ++a)
    for (int b = 0; b < a; ++b)
      maker.add(first[static_cast<size_t>(a)], first[static_cast<size_t>(b)]);
  maker.leaves_are_outputs();
  return maker.module;
}

TEST(Search, KeepsAsManyPlacementsAsItNeedsUpToALimit) {
  const TargetRegistry registry = drawn_registry(3);
  const auto search = [&](int branches, const SearchLimits& limits = {}) {
    const Problem problem(registry, entangled(branches), "cpu + gpu + npu");
    Result<CheapestAssignment> found = problem.search(limits);
    INTARSIA_CHECK(found.ok(), "the host takes all");
    return *found;
  };
  const CheapestAssignment within = search(6);
  EXPECT_TRUE(within.search.is_exact);
  EXPECT_THAT(within.search.most_kept, AllOf(Ge(2000), Le(2200)));
  SearchLimits fewer;
  fewer.most_kept = 512;
  const CheapestAssignment cut = search(6, fewer);
  EXPECT_FALSE(cut.search.is_exact);
  EXPECT_EQ(cut.search.most_kept, 512);
  const CheapestAssignment beyond = search(8);
  EXPECT_FALSE(beyond.search.is_exact);
  EXPECT_EQ(beyond.search.most_kept, 4096);
}

// Less is kept of a large function, so that the whole stays bounded.
TEST(Search, WorkHasABound) {
  const TargetRegistry registry = drawn_registry(3);
  const Problem problem(registry, random_graph(5, 600, 1000), "cpu + gpu + npu");
  SearchLimits limits;
  limits.most_work = 1 << 20;
  const Result<CheapestAssignment> found = problem.search(limits);
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->search.is_exact);
  EXPECT_EQ(found->search.most_kept, 64);
  EXPECT_LE(found->search.placements, 600 * 3 * 64);
  EXPECT_LE(microseconds_of(problem, found->assignment),
            microseconds_of(problem, *problem.by_priority()));
}

Explanation explained(const graph::Module& module, const std::string& target) {
  const TargetRegistry registry = testing_kinds::make_registry();
  const Result<TargetSpec> spec = parse_target(registry.catalogue(), target);
  PartitionOptions options;
  options.policy = PartitionPolicy::Cost;
  const Result<Partitioned> result = partition(module, registry, *spec, options);
  INTARSIA_CHECK(result.ok(), "the host takes all");
  return result->explanation;
}

TEST(Search, TiesBetweenEqualCpusCostNothing) {
  for (const int count : {20, 200}) {
    GraphMaker maker;
    const graph::TensorId in = maker.input();
    for (int n = 0; n < count; ++n) maker.relu(in);
    maker.leaves_are_outputs();
    const Explanation result = explained(maker.module, "a: cpu -id=1; b: cpu -id=2");
    EXPECT_TRUE(result.search->is_exact);
    EXPECT_LE(result.search->placements, 8 * count);
    EXPECT_EQ(result.transfers, 0);
    for (const Explanation::Operator& row : result.operators) EXPECT_EQ(row.device, "a");
  }
}

// Of equal assignments the priority policy's is kept, and without it the first in the target's order.
TEST(Search, TiesHaveOneOutcome) {
  TargetRegistry registry;
  const auto add = [&](const char* name, Role role, double cost) {
    registry.add(testing_kinds::fake_kind(name, role, {{OpKind::Relu, cost}}, 0));
  };
  add("cpu", Role::Cpu, 50), add("same", Role::Device, 50), add("slow", Role::Device, 70);
  add("x", Role::Device, 30), add("y", Role::Device, 30);
  GraphMaker maker;
  maker.relu(maker.input());
  maker.leaves_are_outputs();
  const auto device = [&](const std::string& target) {
    const Problem problem(registry, maker.module, target);
    const Result<CheapestAssignment> found = problem.search();
    INTARSIA_CHECK(found.ok(), "the host takes all");
    EXPECT_TRUE(found->search.is_exact);
    return problem.target.devices()[static_cast<size_t>(found->assignment[0])].name;
  };
  EXPECT_EQ(device("cpu + same"), "same");
  EXPECT_EQ(device("cpu + slow + same"), "cpu");
  EXPECT_EQ(device("cpu + slow + x + y"), "x");
  EXPECT_EQ(device("cpu + slow + y + x"), "y");
}

enum class Join { None, Chain, Concat };

graph::Module fan_out(int count, Join join) {
  GraphMaker maker;
  const graph::TensorId in = maker.relu(maker.input());
  std::vector<graph::TensorId> branches;
  for (int n = 0; n < count; ++n) branches.push_back(maker.relu(in));
  graph::TensorId sum = branches[0];
  if (join == Join::Chain)
    for (size_t n = 1; n < branches.size(); ++n) sum = maker.add(sum, branches[n]);
  if (join == Join::Concat) maker.node(OpKind::Concat, graph::AxisAttrs{1}, branches, 4 * count);
  maker.leaves_are_outputs();
  return maker.module;
}

constexpr const char* kTwoAndTwo = "a: cpu; x: npu; b: cpu; y: npu";

TEST(Search, FanOutsAreExactWithFewPlacements) {
  for (const Join join : {Join::None, Join::Chain, Join::Concat}) {
    const TargetRegistry registry = testing_kinds::make_registry(/*with_concat=*/true);
    const auto placements = [&](int count) {
      const Problem problem(registry, fan_out(count, join), kTwoAndTwo);
      const Result<CheapestAssignment> found = problem.search();
      INTARSIA_CHECK(found.ok(), "the host takes all");
      EXPECT_TRUE(found->search.is_exact);
      EXPECT_LE(found->search.most_kept, 512);
      return found->search.placements;
    };
    const int64_t few = placements(50), many = placements(200);
    EXPECT_LE(many, 5 * few) << static_cast<int>(join);
    EXPECT_LE(many, 200 * 2048) << static_cast<int>(join);
  }
}

graph::Module chain(int count) {
  GraphMaker maker;
  graph::TensorId last = maker.input();
  for (int n = 0; n < count; ++n) last = n % 3 == 2 ? maker.mul(last, last) : maker.relu(last);
  maker.leaves_are_outputs();
  return maker.module;
}

TEST(Search, ChainsTakePlacementsInProportion) {
  const auto placements = [](int count) {
    const Explanation result = explained(chain(count), kTwoAndTwo);
    EXPECT_TRUE(result.search->is_exact);
    EXPECT_LE(result.search->most_kept, 8);
    return result.search->placements;
  };
  const int64_t thousand = placements(1000);
  EXPECT_LE(thousand, 16 * 1000);
  EXPECT_LE(placements(10000), 11 * thousand);  // the whole of partition() at this size as well
}

// Residual blocks, and branches of unlike length that meet.
TEST(Search, NetworksOfTheUsualFormsAreExact) {
  GraphMaker maker;
  graph::TensorId last = maker.input();
  for (int block = 0; block < 60; ++block) {
    const graph::TensorId in = last;
    last = maker.relu(maker.mul(maker.relu(in), in));
    last = maker.add(last, block % 2 == 0 ? in : maker.relu(in));
    const graph::TensorId short_branch = maker.relu(last);
    last = maker.add(maker.mul(short_branch, last), maker.relu(maker.relu(maker.relu(last))));
  }
  maker.leaves_are_outputs();
  const Explanation result = explained(maker.module, kTwoAndTwo);
  EXPECT_TRUE(result.search->is_exact);
  EXPECT_EQ(search_note(result), "");
  EXPECT_LE(result.search->most_kept, 1024);
}

TEST(Search, TheUserIsToldWhenItWasCutShort) {
  Explanation explanation;
  EXPECT_EQ(search_note(explanation), "");  // another policy
  explanation.search = {true, 100, 10};
  EXPECT_EQ(search_note(explanation), "");
  explanation.search = {false, 100, 10};
  EXPECT_EQ(search_note(explanation),
            "the search of policy cost was cut short at 10 placements at a time: another "
            "assignment may cost less");
}

// ---- what it stands on ----

TEST(Regions, KeepTheOrderOfTheModelWhereDevicesDoNotMatter) {
  GraphMaker maker;
  const graph::TensorId in = maker.input();
  maker.relu(in), maker.relu(in);
  const auto regions = partitioning::make_regions(maker.function(), {1, 0});
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_EQ(regions[0].device, 1);
}

TEST(Regions, ReadAVariableBeforeItIsWrittenAgain) {
  GraphMaker maker;
  const graph::TensorId in = maker.input(), state = maker.tensor();
  maker.function().tensors[state.at()].variable = true;
  maker.mul(maker.relu(in), state);
  maker.relu(in);
  maker.function().nodes[2].outputs = {state};
  const auto regions = partitioning::make_regions(maker.function(), {0, 1, 0});
  ASSERT_EQ(regions.size(), 3u);
  EXPECT_EQ(regions[1].device, 1);
}

// Programs of other compilers have tensors at places that follow from the model's order.
TEST(Regions, KeepTheOrderAroundCompiledPrograms) {
  GraphMaker maker;
  const graph::TensorId in = maker.input();
  maker.relu(in), maker.relu(in), maker.relu(in);
  EXPECT_EQ(partitioning::make_regions(maker.function(), {0, 1, 0}).size(), 2u);
  maker.function().nodes[1].kind = graph::OpKind::Compiled;
  const auto regions = partitioning::make_regions(maker.function(), {0, 1, 0});
  ASSERT_EQ(regions.size(), 3u);
  for (int n = 0; n < 3; ++n) EXPECT_EQ(regions[static_cast<size_t>(n)].nodes[0].index, n);
}

TEST(DecisionOrder, TakesWhereBranchesMeetBeforeTheBranches) {
  const TargetRegistry registry = testing_kinds::make_registry(/*with_concat=*/true);
  const Problem problem(registry, fan_out(4, Join::Concat), "cpu");
  // The first branch leads to the concat, and from there one branch after another is done with.
  EXPECT_THAT(partitioning::decision_order(problem.costs()), ElementsAre(0, 1, 5, 2, 3, 4));
}

TEST(DecisionOrder, FollowsChainsAndTakesEveryNodeOnce) {
  const TargetRegistry registry = testing_kinds::make_registry();
  EXPECT_THAT(partitioning::decision_order(Problem(registry, chain(5), "cpu").costs()),
              ElementsAre(0, 1, 2, 3, 4));
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const Problem problem(registry, random_graph(seed, 40, 1 + seed % 40), "cpu");
    std::vector<int> order = partitioning::decision_order(problem.costs());
    std::sort(order.begin(), order.end());
    for (int n = 0; n < 40; ++n) EXPECT_EQ(order.at(static_cast<size_t>(n)), n);
  }
}

TEST(Costs, AreCountedInWholePicoseconds) {
  const TargetRegistry registry = testing_kinds::make_registry();
  GraphMaker maker;
  const graph::TensorId x = maker.input(16);
  const graph::TensorId a = maker.node(OpKind::Relu, graph::ReluAttrs{}, {x}, 16);
  const graph::TensorId b = maker.node(OpKind::Add, graph::BinaryAttrs{}, {a, a}, 16);
  const graph::TensorId c = maker.node(OpKind::Mul, graph::BinaryAttrs{}, {a, b}, 16);
  maker.function().outputs = {b, c};
  const Problem problem(registry, maker.module, "cpu + npu + gpu");
  const auto cost = [&](const Assignment& assignment) {
    return cost_of(problem.costs(), assignment);
  };
  // All on the host: 50 + 40 + 30.
  EXPECT_EQ(cost({0, 0, 0}).time, 120'000'000);
  EXPECT_EQ(cost({0, 0, 0}).transfers, 0);
  // npu 5, 9, then 30: in, a and b to or from the NPU, each 12 + 16 / 64.
  EXPECT_EQ(cost({1, 1, 0}).time, 80'750'000);
  EXPECT_EQ(cost({1, 1, 0}).transfers, 3);
  EXPECT_EQ(cost({1, 1, 0}).transfer_bytes, 48);
  // gpu, npu, gpu: `a` is handed over once, by the GPU; b goes to the host and to the GPU; c to the host.
  // 9 + 9 + 4 + 8.25 + (8.25 + 12.25) + (12.25 + 8.25) + 8.25.
  EXPECT_EQ(cost({2, 1, 2}).time, 79'500'000);
  EXPECT_EQ(cost({2, 1, 2}).transfers, 5);
}

TEST(Costs, BetweenCpusGoThroughTheMailboxOnce) {
  const TargetRegistry registry = testing_kinds::make_registry();
  GraphMaker maker;
  const graph::TensorId x = maker.input(400);
  const graph::TensorId a = maker.node(OpKind::Relu, graph::ReluAttrs{}, {x}, 400);
  maker.node(OpKind::Relu, graph::ReluAttrs{}, {x}, 400);
  maker.node(OpKind::Relu, graph::ReluAttrs{}, {a}, 400);
  maker.leaves_are_outputs();
  const Problem problem(registry, maker.module, "a: cpu; b: cpu; y: gpu");
  const auto time = [&](const Assignment& assignment) {
    return cost_of(problem.costs(), assignment).time / 1e6;
  };
  const double mailbox = 5 + 1, gpu = 8 + 400.0 / 64;
  EXPECT_DOUBLE_EQ(time({0, 0, 0}), 150);
  // x to b, and the results of nodes 1 and 2 to the host.
  EXPECT_DOUBLE_EQ(time({1, 1, 1}), 150 + 3 * mailbox);
  // x to b and to its gpu, through one mailbox; a from b to the host.
  EXPECT_DOUBLE_EQ(time({1, 2, 0}), 109 + (mailbox + gpu) + mailbox + (mailbox + gpu));
}

// A kind that says nothing about costs is a plain scalar core at 100 MHz.
TEST(Costs, OfAKindThatSaysNothingAreThoseOfAScalarCore) {
  TargetKind silent;
  silent.spec.name = "silent", silent.spec.role = Role::Cpu;
  TargetRegistry registry;
  registry.add(std::move(silent));
  const Result<graph::Module> module = graph::parse(R"(intarsia.graph m
const @0 w = x"0102030405060708090a0b0c"
func @main(%0) -> (%2) {
  %0 in: i8[1,4] q(0.5)
  %1 w: i8[3,4] q(0.5:0) = @0
  %2 out: i8[1,3] q(0.5)
  fully_connected f(%0, %1) -> (%2)
}
entry @main
)");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const Result<TargetSpec> target = parse_target(registry.catalogue(), "silent");
  const Target& device = target->host();
  const graph::Function& f = module->functions[0];
  const CostEstimate cost = registry.kind_of(device).cost(device, *module, f, {});
  EXPECT_DOUBLE_EQ(cost.cycles, 8 * 12 + 30 * 3);
  EXPECT_DOUBLE_EQ(cost.clock_mhz, 100);
  EXPECT_DOUBLE_EQ(cost.microseconds(), 1.86);
  EXPECT_DOUBLE_EQ(registry.kind_of(device).transfer_microseconds(device, 400), 0);
}

}  // namespace
}  // namespace intarsia
