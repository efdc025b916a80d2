#include "kernel_costs.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <variant>

#include "intarsia/plugin/overloaded.h"
#include "intarsia/plugin/standard_lowering.h"

namespace intarsia::targets::cortex_m {
namespace {

constexpr size_t kMostParts = 25;

struct Cost {
  CostCore core;
  KernelFamily family;
  std::array<double, kMostParts> cycles;
};

constexpr Cost kCosts[] = {
#define COST(core, family, ...) {CostCore::core, KernelFamily::family, {__VA_ARGS__}},
#include "intarsia/targets/cortex_m/kernel_costs.def"
#undef COST
};

// Calls of kernels in a function, which may lie in loops of known bounds.
class Calls {
 public:
  Calls(CoreClass core, const tir::Func& func, const tir::Module& constants)
      : core_(core), func_(func), constants_(constants) {}

  std::optional<OperatorWork> collect() {
    visit(func_.body, 1);
    if (!known_) return std::nullopt;
    return std::move(work_);
  }

 private:
  void visit(const tir::Stmt& stmt, double times) {
    std::visit(
        overloaded{
            [&](const tir::Seq& n) {
              for (const tir::Stmt& inner : n.statements) visit(inner, times);
            },
            [&](const tir::For& n) {
              const auto* lo = std::get_if<tir::IntImm>(&n.lo->node);
              const auto* hi = std::get_if<tir::IntImm>(&n.hi->node);
              known_ = known_ && lo != nullptr && hi != nullptr;
              if (!known_) return;
              visit(n.body, times * static_cast<double>(hi->value - lo->value));
            },
            [&](const tir::If& n) { visit(n.then_body, times); },
            [&](const tir::Let& n) { visit(n.body, times); },
            // A row that is laid out several times, element by element; of bytes that are copied compilers make words.
            [&](const tir::Store& n) {
              constexpr double kWord = 4;
              const bool copies = std::holds_alternative<tir::Load>(n.value->node);
              add({KernelFamily::Element, {copies ? times / kWord : times}, 0});
            },
            [](const tir::Call&) {}, [&](const tir::Intrinsic& n) { call(n, times); }},
        stmt->node);
  }

  void call(const tir::Intrinsic& n, double times) {
    std::vector<int64_t> numbers;
    std::span<const uint8_t> table;  // the last constant
    double bytes = 0;
    for (const auto& operand : n.operands) {
      if (const auto* run = std::get_if<tir::BufferRun>(&operand)) {
        const tir::Buffer& buffer = func_.buffer(run->buffer);
        if (buffer.scope != tir::Scope::Constant) continue;
        table = constants_.constant(buffer.constant).bytes.vector();
        bytes += static_cast<double>(table.size());
      } else if (const auto* number =
                     std::get_if<tir::IntImm>(&std::get<tir::Expr>(operand)->node)) {
        numbers.push_back(number->value);
      }
    }
    std::vector<KernelWork> works = work_of_call(core_, n.name, numbers, table);
    known_ = known_ && !works.empty();
    for (KernelWork& work : works) {
      for (double& amount : work.amounts) amount *= times;
      work_.constant_bytes += times * work.reads * bytes;
      add(std::move(work));
    }
  }

  void add(KernelWork work) {
    const auto same =
        std::find_if(work_.kernels.begin(), work_.kernels.end(),
                     [&](const KernelWork& other) { return other.family == work.family; });
    if (same == work_.kernels.end()) {
      work_.kernels.push_back(std::move(work));
      return;
    }
    for (size_t i = 0; i < work.amounts.size(); ++i) same->amounts[i] += work.amounts[i];
  }

  CoreClass core_;
  const tir::Func& func_;
  const tir::Module& constants_;
  OperatorWork work_;
  bool known_ = true;
};

}  // namespace

std::optional<OperatorWork> operator_work(CoreClass core, const graph::Module& module,
                                          const graph::Function& function, const graph::Node& node,
                                          int64_t waits) {
  if (standard_lowering_refuses(module, function, node)) return std::nullopt;
  const OpView view{module, function, node};
  const LowerKernel kernel = choose_kernel(core, view, /*small=*/false, waits);
  if (!kernel) return std::nullopt;
  return work_of_kernel(core, view, kernel);
}

std::optional<OperatorWork> work_of_kernel(CoreClass core, const OpView& view,
                                           const LowerKernel& kernel) {
  tir::Module constants;
  operators::ConstantPool pool(view.module, constants);
  OpLowering op(view, "kernel", pool);
  tir::Stmt body = kernel(op);
  const tir::Func func = op.b.finish(std::move(body));
  return Calls(core, func, constants).collect();
}

std::optional<double> cycles_of_work(CostCore core, const std::vector<KernelWork>& kernels) {
  double cycles = 0;
  for (const KernelWork& work : kernels) {
    const auto cost = std::find_if(std::begin(kCosts), std::end(kCosts), [&](const Cost& row) {
      return row.core == core && row.family == work.family;
    });
    if (cost == std::end(kCosts)) return std::nullopt;
    for (size_t part = 0; part < work.amounts.size(); ++part)
      cycles += work.amounts[part] * cost->cycles.at(part);
  }
  return cycles;
}

std::optional<double> cycles_of_kernel(CoreClass core, const OpView& view,
                                       const LowerKernel& kernel) {
  const std::optional<OperatorWork> work =
      kernel ? work_of_kernel(core, view, kernel) : std::nullopt;
  return work ? cycles_of_work(core_of_class(core), work->kernels) : std::nullopt;
}

}  // namespace intarsia::targets::cortex_m
