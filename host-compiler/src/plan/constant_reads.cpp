#include <algorithm>
#include <set>

#include "intarsia/plugin/tir_walk.h"
#include "plan/constant_places.h"
#include "tir/function_index.h"

namespace intarsia::plan {
namespace {

int64_t elements_of(const tir::Constant& constant) {
  const int64_t bytes = std::max<int64_t>(1, (bits(constant.type) + 7) / 8);
  return std::max<int64_t>(1, static_cast<int64_t>(constant.bytes.size()) / bytes);
}

class ReadCounter {
 public:
  explicit ReadCounter(const tir::Module& module)
      : module_(module), functions_(module), reads_(module.constants.size(), 0) {}

  std::vector<int64_t> count() {
    visit(module_.entry_func(), module_.entry_func().body, 1);
    return std::move(reads_);
  }

 private:
  // The calls inside, each as often as its loops say.
  void visit(const tir::Func& caller, const tir::Stmt& stmt, int64_t times) {
    if (const auto* call = std::get_if<tir::Call>(&stmt->node)) {
      const tir::Func* callee = functions_.find(call->function);
      if (callee == nullptr) return;
      if (callee->tiled) return visit(*callee, callee->body, times);
      return count_call(caller, *call, *callee, times);
    }
    if (const auto* loop = std::get_if<tir::For>(&stmt->node)) {
      const auto* lo = std::get_if<tir::IntImm>(&loop->lo->node);
      const auto* hi = std::get_if<tir::IntImm>(&loop->hi->node);
      if (lo != nullptr && hi != nullptr)
        times = std::min(times * std::clamp<int64_t>(hi->value - lo->value, 1, kMost), kMost);
    }
    tir::for_each_inner_stmt(*stmt, [&](const tir::Stmt& inner) { visit(caller, inner, times); });
  }

  void count_call(const tir::Func& caller, const tir::Call& call, const tir::Func& callee,
                  int64_t times) {
    std::set<int32_t> used;
    for (const tir::Buffer& buffer : callee.buffers)
      if (buffer.constant.valid()) used.insert(buffer.constant.index);
    for (const tir::BufferId argument : call.arguments)
      if (caller.buffer(argument).constant.valid())
        used.insert(caller.buffer(argument).constant.index);
    int64_t weights = 0, results = 0;
    for (const int32_t index : used)
      if (constant(index).use == tir::ConstantUse::Weights) weights += elements_of(constant(index));
    for (size_t i = 0; i < callee.parameters.size(); ++i)
      if (callee.parameters[i].access != tir::Access::Read)
        results = std::max(results, element_count(callee.buffers[i].extents));
    for (const int32_t index : used) {
      const int64_t each = weights > 0 && callee.macs > 0 ? callee.macs / weights
                                                          : results / elements_of(constant(index));
      int64_t& reads = reads_[static_cast<size_t>(index)];
      reads = std::min(reads + std::clamp<int64_t>(each, 1, kMost) * times, kMost);
    }
  }

  const tir::Constant& constant(int32_t index) const {
    return module_.constants[static_cast<size_t>(index)];
  }

  static constexpr int64_t kMost = int64_t{1} << 30;  // two of them, multiplied, are a number still

  const tir::Module& module_;
  const tir::FunctionIndex functions_;
  std::vector<int64_t> reads_;
};

}  // namespace

std::vector<int64_t> constant_reads(const tir::Module& module) {
  return ReadCounter(module).count();
}

}  // namespace intarsia::plan
