// The rows of targets/cortex-m/isa/kernel_costs.def and the column of targets/c/isa/loop_costs.def of a core, from cycles
// counted in the emulator:  cortex_m_cost_table CORE BOARD COLUMN [kernels|loops|FAMILY,..]
// COLUMN: M4. Of one of the two, what was counted is listed as well, and what it is made of. Of some families: of layers with
// them alone.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "c/compiler/loop_work.h"
#include "compiler/kernel_costs.h"
#include "cost_samples.h"
#include "intarsia/plugin/check.h"
#include "intarsia/plugin/standard_lowering.h"

namespace intarsia::test::cortex_m {
namespace {

using targets::c::kLoopSteps;
using targets::c::LoopWork;
using targets::cortex_m::KernelWork;

constexpr const char* kFamilies[] = {
#define FAMILY(name, ...) #name,
#include "intarsia/targets/cortex_m/kernel_families.def"
#undef FAMILY
};
constexpr const char* kSteps[] = {
#define STEP(name, ...) #name,
#include "intarsia/targets/c/loop_costs.def"
#undef STEP
};

// A sample is a sum of amounts of unknowns: its cycles.
struct Equation {
  std::vector<std::pair<size_t, double>> amounts;
  double cycles;
  std::string what;
};

// Numbers from zero on with which the sums' errors, as parts of the cycles, are small in sum: squares, weighted so that
// a few samples far off do not decide. Sums that are many times too high, as of a layer that a compiler found to be constant, weigh
// as much as those that are many times too low.
std::vector<double> solve(const std::vector<Equation>& equations, size_t unknowns) {
  constexpr int kRounds = 12, kSweeps = 400;
  constexpr double kNear = 0.04;
  std::vector<double> x(unknowns, 0), weights(equations.size(), 1);
  std::vector<std::vector<std::pair<size_t, double>>> columns(unknowns);
  for (size_t i = 0; i < equations.size(); ++i)
    for (const auto& [unknown, amount] : equations[i].amounts)
      columns[unknown].push_back({i, amount / equations[i].cycles});
  std::vector<double> errors(equations.size(), -1);
  for (int round = 0; round < kRounds; ++round) {
    for (int sweep = 0; sweep < kSweeps; ++sweep)
      for (size_t j = 0; j < unknowns; ++j) {
        double slope = 0, curve = 1e-12;
        for (const auto& [i, a] : columns[j])
          slope += weights[i] * a * errors[i], curve += weights[i] * a * a;
        const double next = std::max(0.0, x[j] - slope / curve), step = next - x[j];
        if (step == 0) continue;
        for (const auto& [i, a] : columns[j]) errors[i] += a * step;
        x[j] = next;
      }
    for (size_t i = 0; i < equations.size(); ++i)
      weights[i] = 1 / (std::max(kNear, std::abs(errors[i])) * std::max(1.0, 1 + errors[i]));
  }
  return x;
}

double share_within(const std::vector<Equation>& equations, const std::vector<double>& x) {
  int near = 0;
  for (const Equation& equation : equations) {
    double sum = 0;
    for (const auto& [unknown, amount] : equation.amounts) sum += x[unknown] * amount;
    near += std::abs(sum / equation.cycles - 1) <= 0.2;
  }
  return static_cast<double>(near) / static_cast<double>(equations.size());
}

std::string rounded(double value) {
  return value == 0 ? "0" : fmt::format("{:.3g}", value);
}

struct Request {
  std::string core, board, name;
  std::string_view only;      // "kernels", "loops": with the samples; empty: both, without
  std::string_view families;  // kernels of these, commas between; empty: all
  targets::cortex_m::CoreClass core_class;
};

std::vector<Equation> loops(const Request& request, const std::vector<CostSample>& samples) {
  std::vector<Equation> equations;
  const auto counted = count_samples(request.core, request.board, samples, {.portable = true});
  if (!counted.ok()) {
    std::fputs(counted.error().to_string().c_str(), stderr);
    return {};
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    const graph::Module& module = samples[i].module;
    const auto lowered = standard_graph_to_tir(module, module.entry_function());
    if (!lowered.ok() || (*counted)[i] <= 0) continue;
    Equation equation{{}, (*counted)[i], samples[i].what};
    for (const tir::Func& func : lowered->module.funcs) {
      if (func.name == lowered->entry) continue;
      const LoopWork work = targets::c::work_of_loops(func);
      for (size_t step = 0; step < kLoopSteps; ++step)
        if (work[step] != 0) equation.amounts.push_back({step, work[step]});
    }
    equations.push_back(std::move(equation));
  }
  return equations;
}

struct Kernels {
  std::vector<Equation> equations;
  std::map<size_t, size_t> parts;                        // of a family
  std::map<std::pair<size_t, size_t>, size_t> unknowns;  // of a family's part
};

// Made for constants that wait so many cycles, of which nothing is counted: only what differs for it.
void count_kernels(const Request& request, const std::vector<CostSample>& samples, int64_t waits,
                   Kernels& all) {
  std::vector<CostSample> tuned;
  std::vector<std::vector<KernelWork>> works;
  for (const CostSample& sample : samples) {
    const graph::Function& function = sample.module.entry_function();
    const auto work_for = [&](int64_t some) {
      return targets::cortex_m::operator_work(request.core_class, sample.module, function,
                                              function.nodes[0], some);
    };
    const auto work = work_for(waits);
    const auto is_wanted = [&](const KernelWork& part) {
      const std::string name = kFamilies[static_cast<size_t>(part.family)];
      return request.families.empty() ||
             fmt::format(",{},", request.families).find("," + name + ",") != std::string::npos;
    };
    if (!work || std::none_of(work->kernels.begin(), work->kernels.end(), is_wanted) ||
        (waits != 0 && work->kernels == work_for(0)->kernels))
      continue;
    tuned.push_back(sample), works.push_back(work->kernels);
  }
  if (tuned.empty()) return;
  const auto counted = count_samples(request.core, request.board, tuned, {.made_for_waits = waits});
  if (!counted.ok()) {
    std::fputs(counted.error().to_string().c_str(), stderr);
    return;
  }
  for (size_t i = 0; i < counted->size(); ++i) {
    Equation equation{{}, (*counted)[i], tuned[i].what};
    for (const KernelWork& work : works[i]) {
      const auto family = static_cast<size_t>(work.family);
      all.parts[family] = work.amounts.size();
      for (size_t part = 0; part < work.amounts.size(); ++part) {
        const auto [unknown, fresh] = all.unknowns.try_emplace({family, part}, all.unknowns.size());
        if (work.amounts[part] != 0)
          equation.amounts.push_back({unknown->second, work.amounts[part]});
      }
    }
    if (equation.cycles > 0) all.equations.push_back(std::move(equation));
  }
}

Kernels kernels(const Request& request, const std::vector<CostSample>& samples) {
  Kernels all;
  for (const int64_t waits : {0, 1}) count_kernels(request, samples, waits, all);
  return all;
}

void list(const std::vector<Equation>& equations, const std::vector<std::string>& parts,
          const std::vector<double>& each) {
  for (const Equation& equation : equations) {
    double sum = 0;
    std::string amounts;
    for (const auto& [unknown, amount] : equation.amounts) {
      sum += each[unknown] * amount;
      amounts += fmt::format(" {}:{:.6g}", parts[unknown], amount);
    }
    fmt::print("{:.2f} {:.0f} | {} |{}\n", sum / equation.cycles, equation.cycles, equation.what,
               amounts);
  }
}

void print_kernels(const Request& request, const std::vector<CostSample>& samples) {
  const Kernels all = kernels(request, samples);
  const std::vector<double> x = solve(all.equations, all.unknowns.size());
  std::vector<std::string> names(all.unknowns.size());
  for (const auto& [part, unknown] : all.unknowns)
    names[unknown] = fmt::format("{}.{}", kFamilies[part.first], part.second);
  for (const auto& [family, parts] : all.parts) {
    fmt::print("COST({}, {}", request.name, kFamilies[family]);
    for (size_t part = 0; part < parts; ++part)
      fmt::print(", {}", rounded(x[all.unknowns.at({family, part})]));
    fmt::print(")\n");
  }
  if (!request.only.empty()) list(all.equations, names, x);
  fmt::print(stderr, "{} with kernels: {:.1f} % of {} within a fifth\n", request.core,
             100 * share_within(all.equations, x), all.equations.size());
}

void print_loops(const Request& request, const std::vector<CostSample>& samples) {
  const std::vector<Equation> all = loops(request, samples);
  const std::vector<double> x = solve(all, kLoopSteps);
  for (size_t step = 0; step < kLoopSteps; ++step)
    fmt::print("STEP({}, {})\n", kSteps[step], rounded(x[step]));
  if (!request.only.empty())
    list(all, std::vector<std::string>(std::begin(kSteps), std::end(kSteps)), x);
  fmt::print(stderr, "{} by loops: {:.1f} % of {} within a fifth\n", request.core,
             100 * share_within(all, x), all.size());
}

}  // namespace
}  // namespace intarsia::test::cortex_m

int main(int count, char** arguments) {
  using namespace intarsia::test::cortex_m;
  using intarsia::targets::cortex_m::CoreClass;
  const std::map<std::string_view, CoreClass> classes = {
      {"M0", CoreClass::Thumb}, {"M3", CoreClass::Long}, {"M4", CoreClass::Dsp},
      {"M7", CoreClass::Dsp},   {"M33", CoreClass::Dsp}, {"M55", CoreClass::Mve},
      {"RV32", CoreClass::Rv32}};
  if ((count != 4 && count != 5) || !classes.contains(arguments[3])) {
    std::fputs("usage: cortex_m_cost_table CORE BOARD COLUMN [kernels|loops|FAMILY,..]\n", stderr);
    return 2;
  }
  const std::string_view wanted = count == 5 ? arguments[4] : "";
  const bool is_family = !wanted.empty() && wanted != "kernels" && wanted != "loops";
  const std::string_view only = is_family ? "kernels" : wanted;
  const Request request{arguments[1],
                        arguments[2],
                        arguments[3],
                        only,
                        is_family ? std::string_view(arguments[4]) : "",
                        classes.at(arguments[3])};
  constexpr uint32_t kSeed = 1;
  constexpr int kOfKernels = 24, kOfLoops = 10;
  if (request.only != "loops") print_kernels(request, cost_samples(kSeed, kOfKernels));
  if (request.only != "kernels") print_loops(request, cost_samples(kSeed, kOfLoops));
}
