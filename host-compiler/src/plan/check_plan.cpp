// Shares nothing with the planner: lives and permissions are found again from the schedule, which is
// written out as the list of moments at which something happens.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "intarsia/plan.h"
#include "intarsia/plugin/rounding.h"
#include "intarsia/plugin/tir_walk.h"

namespace intarsia {
namespace {

struct Life {
  int first = -1, last = -1;
  bool in_later_iterations = false;  // of a loop: what overwrites it once has destroyed it
};

struct Checker {
  const tir::Module& module;
  const Plan& plan;
  const tir::Func& schedule = module.entry_func();
  std::vector<tir::Call> calls = {};
  std::vector<std::pair<size_t, int>> flags = {};     // a buffer that decides, before a call
  std::vector<std::pair<size_t, size_t>> loops = {};  // first and last call, inner loops first
  std::vector<size_t> call_at = {};                   // per moment, which call it belongs to
  std::vector<Life> lives = {};                       // per buffer, aliases counted with their root
  std::map<std::string, const tir::Func*> funcs = {};
  // Per buffer who reads or writes it, aliases on their own; "" is the program that calls the model.
  std::vector<std::set<std::string>> users = {};
  std::set<int> written_by_devices = {};
  Diagnostics problems = {};

  int root(int buffer) const {
    while (schedule.buffers[static_cast<size_t>(buffer)].alias.valid())
      buffer = schedule.buffers[static_cast<size_t>(buffer)].alias.index;
    return buffer;
  }
  int64_t place_in_root(int buffer) const {
    const tir::Buffer& declared = schedule.buffers[static_cast<size_t>(buffer)];
    return declared.alias.valid() ? declared.alias_offset + place_in_root(declared.alias.index) : 0;
  }

  void collect(const tir::Stmt& stmt) {
    if (const auto* call = std::get_if<tir::Call>(&stmt->node)) calls.push_back(*call);
    if (const auto* branch = std::get_if<tir::If>(&stmt->node))
      if (const auto* flag = std::get_if<tir::Load>(&branch->condition->node))
        flags.emplace_back(calls.size(), flag->buffer.index);
    const size_t first = calls.size();
    tir::for_each_inner_stmt(*stmt, [&](const tir::Stmt& inner) { collect(inner); });
    if (std::holds_alternative<tir::For>(stmt->node) && calls.size() > first)
      loops.emplace_back(first, calls.size() - 1);
  }

  void find_lives() {
    lives.assign(schedule.buffers.size(), {});
    const auto extend = [&](int buffer, int step) {
      Life& life = lives[static_cast<size_t>(root(buffer))];
      if (life.first < 0 || step < life.first) life.first = step;
      life.last = std::max(life.last, step);
    };
    for (size_t c = 0; c < calls.size(); ++c) {
      const std::vector<std::set<size_t>> moments = mentioned_at(calls[c]);
      std::set<size_t> missing;  // arguments that no moment mentions
      for (size_t i = 0; i < calls[c].arguments.size(); ++i) missing.insert(i);
      for (const std::set<size_t>& at : moments)
        for (const size_t argument : at) missing.erase(argument);
      for (size_t m = 0; m < moments.size(); ++m) {
        const int now = static_cast<int>(call_at.size());
        for (const size_t argument : moments[m]) extend(calls[c].arguments[argument].index, now);
        for (const size_t argument : missing) extend(calls[c].arguments[argument].index, now);
        call_at.push_back(c);
      }
    }
    const int final_moment = std::max(0, static_cast<int>(call_at.size()) - 1);
    const auto moment_of = [&](size_t call, bool last) {  // `call_at` ascends
      const auto begin = std::lower_bound(call_at.begin(), call_at.end(), call);
      const auto end = std::upper_bound(begin, call_at.end(), call);
      const auto found = last && end != call_at.begin() ? end - 1 : begin;
      return std::min(static_cast<int>(found - call_at.begin()), final_moment);
    };
    for (const auto& [call, flag] : flags) extend(flag, moment_of(call, false));
    for (const auto& [first_call, last_call] : loops) {
      const int first = moment_of(first_call, false), last = moment_of(last_call, true);
      for (Life& life : lives) {
        const bool touched = life.first >= 0 && life.first <= last && life.last >= first;
        if (!touched || (life.first >= first && life.last <= last)) continue;
        life = {std::min(life.first, first), std::max(life.last, last), true};
      }
    }
    for (size_t i = 0; i < schedule.buffers.size(); ++i)
      if (schedule.buffers[i].initial) {  // state: before the first moment and after the last
        extend(static_cast<int>(i), 0);
        extend(static_cast<int>(i), final_moment);
      }
    for (size_t i = 0; i < schedule.parameters.size(); ++i)
      extend(static_cast<int>(i),
             schedule.parameters[i].access == tir::Access::Read ? 0 : final_moment);
  }

  void find_users() {
    users.assign(schedule.buffers.size(), {});
    for (const tir::Call& call : calls)
      if (const tir::Func* callee = find_func(call.function))
        for (const tir::BufferId argument : call.arguments)
          users[argument.at()].insert(callee->target);
    for (size_t i = 0; i < schedule.buffers.size(); ++i)
      if (i < schedule.parameters.size() || schedule.buffers[i].initial) users[i].insert("");
    for (const auto& [call, flag] : flags) users[static_cast<size_t>(flag)].insert("");
  }

  const tir::Func* find_func(const std::string& name) const {
    const auto found = funcs.find(name);
    return found == funcs.end() ? nullptr : found->second;
  }

  // The moments of a call, each with the arguments it touches: one for all of a function that may do
  // anything in any order, one per command of a stepwise function.
  std::vector<std::set<size_t>> mentioned_at(const tir::Call& call) const {
    std::vector<std::set<size_t>> moments;
    const tir::Func* callee = find_func(call.function);
    if (callee != nullptr && callee->stepwise)
      if (const auto* commands = std::get_if<tir::Seq>(&callee->body->node))
        for (const tir::Stmt& command : commands->statements) {
          std::set<size_t> touched;
          for (const auto& operand : std::get<tir::Intrinsic>(command->node).operands)
            if (const auto* run = std::get_if<tir::BufferRun>(&operand))
              if (run->buffer.at() < call.arguments.size()) touched.insert(run->buffer.at());
          moments.push_back(std::move(touched));
        }
    if (!moments.empty()) return moments;
    std::set<size_t> everything;
    for (size_t i = 0; i < call.arguments.size(); ++i) everything.insert(i);
    return {everything};
  }

  // At `step`, may the bytes of root `a` be those of root `b` because the call overwrites one by the
  // other?
  bool in_place_at(int step, int a, int b) const {
    if (static_cast<size_t>(step) >= call_at.size()) return false;
    const tir::Call& call = calls[call_at[static_cast<size_t>(step)]];
    const tir::Func* callee = find_func(call.function);
    if (callee == nullptr) return false;
    return std::any_of(
        callee->in_place.begin(), callee->in_place.end(), [&](const tir::InPlace& pair) {
          const int in = root(call.arguments[static_cast<size_t>(pair.input)].index);
          const int out = root(call.arguments[static_cast<size_t>(pair.output)].index);
          return (in == a && out == b) || (in == b && out == a);
        });
  }

  // At `step`, does the call write root `low` that far behind its reading of root `high`?
  bool may_overlap_at(int step, int low, int high, int64_t distance) const {
    if (static_cast<size_t>(step) >= call_at.size()) return false;
    const tir::Call& call = calls[call_at[static_cast<size_t>(step)]];
    const tir::Func* callee = find_func(call.function);
    if (callee == nullptr) return false;
    return std::any_of(
        callee->overlaps.begin(), callee->overlaps.end(), [&](const tir::Overlap& overlap) {
          const auto mentions = [&](int buffer) {
            return std::count_if(call.arguments.begin(), call.arguments.end(),
                                 [&](tir::BufferId id) { return root(id.index) == buffer; });
          };
          return mentions(high) == 1 && mentions(low) == 1 &&
                 call.arguments[static_cast<size_t>(overlap.input)].index == high &&
                 call.arguments[static_cast<size_t>(overlap.output)].index == low &&
                 distance >= overlap.distance;
        });
  }

  void check_placement(const Placement& p) {
    const tir::Buffer& buffer = schedule.buffer(p.buffer);
    const std::string where = fmt::format("plan of {}: buffer '{}'", module.name, buffer.name);
    if (p.pool < 0 || p.pool >= static_cast<int>(plan.memory.pools.size())) {
      problems.add(where, fmt::format("is in pool {}, which does not exist", p.pool));
      return;
    }
    const MemoryPool& pool = plan.memory.pools[static_cast<size_t>(p.pool)];
    const PoolUse& use = plan.use[static_cast<size_t>(p.pool)];
    if (p.bytes != buffer.bytes()) problems.add(where, "is planned with another size");
    if (p.offset < 0 || p.offset % buffer.alignment != 0)
      problems.add(where,
                   fmt::format("offset {} is not aligned to {}", p.offset, buffer.alignment));
    if (p.offset + p.bytes > use.peak)
      problems.add(where, fmt::format("ends at {}, beyond the stated peak {}", p.offset + p.bytes,
                                      use.peak));
    // The block begins at the first multiple of its alignment.
    const int64_t lost = std::max(0, plan.alignment - pool.alignment);
    if (pool.size > 0 && lost + p.offset + p.bytes > pool.size)
      problems.add(where, fmt::format("ends at {}, beyond pool '{}' of {} bytes",
                                      lost + p.offset + p.bytes, pool.name, pool.size));
    if (pool.read_only)
      problems.add(where, fmt::format("is in the read-only pool '{}'", pool.name));
    if (plan.alignment < 1 || plan.alignment % buffer.alignment != 0)
      problems.add(where, fmt::format("is aligned to {}, and its memory's block to {}",
                                      buffer.alignment, plan.alignment));
    for (const std::string& user : users[p.buffer.at()])
      if (!plan.memory.reaches(user, pool))
        problems.add(where, fmt::format("is in pool '{}', which {} does not reach", pool.name,
                                        user.empty() ? "the program that calls the model"
                                                     : fmt::format("'{}'", user)));
  }

  // Everything that C reads is in one memory that holds constants, and fits beside the activations.
  void check_constants() {
    const auto& pools = plan.memory.pools;
    const bool is_said = std::any_of(pools.begin(), pools.end(), [](const MemoryPool& pool) {
      return pool.holds_constants || pool.read_only;
    });
    const bool is_asked = std::any_of(pools.begin(), pools.end(),
                                      [](const MemoryPool& pool) { return pool.holds_constants; });
    std::vector<int> times(module.constants.size(), 0);
    std::vector<int64_t> bytes(pools.size(), 0);
    for (const ConstantPlacement& p : plan.constants) {
      const bool exists = p.constant.valid() && p.constant.at() < module.constants.size();
      if (!exists || p.pool < 0 || p.pool >= static_cast<int>(pools.size())) {
        problems.add("plan of " + module.name,
                     "places a constant, or in a pool, that is not there");
        continue;
      }
      const tir::Constant& constant = module.constants[p.constant.at()];
      const MemoryPool& pool = pools[static_cast<size_t>(p.pool)];
      ++times[p.constant.at()];
      const auto size = static_cast<int64_t>(constant.bytes.size());
      bytes[static_cast<size_t>(p.pool)] += size + (-size & (kConstantAlignment - 1));
      const bool holds = is_asked ? pool.holds_constants : pool.read_only;
      if (!holds || !plan.memory.reaches("", pool))
        problems.add(fmt::format("plan of {}: constant '{}'", module.name, constant.name),
                     fmt::format("is in pool '{}', which does not hold constants", pool.name));
    }
    for (size_t i = 0; i < times.size(); ++i) {
      const bool is_placed = is_said && module.constants[i].use != tir::ConstantUse::Stream;
      if (times[i] != (is_placed ? 1 : 0))
        problems.add(
            fmt::format("plan of {}: constant '{}'", module.name, module.constants[i].name),
            fmt::format("is placed {} times", times[i]));
    }
    for (size_t p = 0; p < pools.size(); ++p) {
      const PoolUse& use = plan.use[p];
      const std::string where = fmt::format("plan of {}: pool '{}'", module.name, pools[p].name);
      if (use.constant_bytes != bytes[p])
        problems.add(where, fmt::format("has constants of {} bytes, not of {}", bytes[p],
                                        use.constant_bytes));
      const int64_t beside = pools[p].read_only ? 0 : use.peak;
      if (pools[p].size > 0 && bytes[p] > 0 && bytes[p] + beside > pools[p].size)
        problems.add(where, fmt::format("constants of {} bytes and {} of activations are more than "
                                        "its {}",
                                        bytes[p], beside, pools[p].size));
    }
  }

  void check_alias(const Placement& p) {
    const int whole = root(p.buffer.index);
    if (whole == p.buffer.index) return;
    const Placement* place = plan.find({whole});
    if (place == nullptr || place->pool != p.pool ||
        place->offset + place_in_root(p.buffer.index) != p.offset)
      problems.add(
          fmt::format("plan of {}: buffer '{}'", module.name, schedule.buffer(p.buffer).name),
          "an alias is not where its root is");
  }

  // Of all that are alive at once: in order of their beginnings, each with those that have not ended.
  void check_pairs() {
    const auto life_of = [&](const Placement* p) {
      return lives[static_cast<size_t>(root(p->buffer.index))];
    };
    std::vector<const Placement*> by_first, alive;
    for (const Placement& p : plan.placements)
      if (life_of(&p).first >= 0) by_first.push_back(&p);  // else it is never used
    std::stable_sort(by_first.begin(), by_first.end(), [&](const auto* a, const auto* b) {
      return life_of(a).first < life_of(b).first;
    });
    for (const Placement* next : by_first) {
      std::erase_if(alive, [&](const auto* p) { return life_of(p).last < life_of(next).first; });
      for (const Placement* other : alive)
        check_pair(*std::min(other, next), *std::max(other, next));
      alive.push_back(next);
    }
  }

  // Roots that a device beside the CPU writes.
  void find_written_by_devices() {
    for (const tir::Call& call : calls) {
      const tir::Func* callee = find_func(call.function);
      if (callee == nullptr) continue;
      const auto master = plan.memory.masters.find(callee->target);
      if (master == plan.memory.masters.end() || master->second == "cpu") continue;
      for (size_t i = 0; i < callee->parameters.size() && i < call.arguments.size(); ++i)
        if (callee->parameters[i].access != tir::Access::Read)
          written_by_devices.insert(root(call.arguments[i].index));
    }
  }

  // What a device writes takes whole lines of the CPU's cache where there is one, the bytes of any other are its own.
  bool share_bytes(const Placement& a, const Placement& b) const {
    constexpr int64_t kEveryBlock = 16;
    const int64_t alignment = plan.memory.pools[static_cast<size_t>(a.pool)].alignment;
    const auto unit = [&](const Placement& p) {
      const bool whole =
          alignment > kEveryBlock && written_by_devices.contains(root(p.buffer.index));
      return whole ? alignment : 1;
    };
    const auto begin = [&](const Placement& p) { return p.offset / unit(p) * unit(p); };
    const auto end = [&](const Placement& p) { return round_up(p.offset + p.bytes, unit(p)); };
    return begin(a) < end(b) && begin(b) < end(a);
  }

  void check_pair(const Placement& a, const Placement& b) {
    if (a.pool != b.pool || !share_bytes(a, b)) return;
    const int root_a = root(a.buffer.index), root_b = root(b.buffer.index);
    if (root_a == root_b) return;  // check_alias
    const Life x = lives[static_cast<size_t>(root_a)], y = lives[static_cast<size_t>(root_b)];
    const int first = std::max(x.first, y.first), last = std::min(x.last, y.last);
    if (first > last) return;
    const bool may_be_overwritten = !x.in_later_iterations && !y.in_later_iterations;
    if (may_be_overwritten && first == last && a.offset == b.offset && a.bytes == b.bytes &&
        in_place_at(first, root_a, root_b))
      return;
    if (first == last &&
        (may_overlap_at(first, a.buffer.index, b.buffer.index, b.offset - a.offset) ||
         may_overlap_at(first, b.buffer.index, a.buffer.index, a.offset - b.offset)))
      return;
    problems.add(fmt::format("plan of {}: step {}", module.name, first),
                 fmt::format("buffers '{}' and '{}' are alive together and share bytes{}",
                             schedule.buffer(a.buffer).name, schedule.buffer(b.buffer).name,
                             a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes
                                 ? ""
                                 : " of a cache line"));
  }
};

}  // namespace

Result<void> check_plan(const tir::Module& module, const Plan& plan) {
  Checker checker{module, plan};
  if (plan.use.size() != plan.memory.pools.size())
    return Diagnostics("plan of " + module.name, "has figures for another number of pools");
  for (const tir::Func& func : module.funcs) checker.funcs.emplace(func.name, &func);
  checker.collect(checker.schedule.body);
  checker.find_lives();
  checker.find_users();
  checker.find_written_by_devices();
  std::set<int> placed;
  for (const Placement& p : plan.placements) {
    if (!placed.empty() && p.buffer.index <= *placed.rbegin())
      checker.problems.add("plan of " + module.name,
                           "places a buffer twice, or not in their order");
    placed.insert(p.buffer.index);
    checker.check_placement(p);
    checker.check_alias(p);
  }
  for (size_t i = 0; i < checker.schedule.buffers.size(); ++i) {
    const tir::Buffer& buffer = checker.schedule.buffers[i];
    const bool planned = buffer.scope == tir::Scope::Parameter || buffer.scope == tir::Scope::Local;
    const bool used =
        checker.lives[static_cast<size_t>(checker.root(static_cast<int>(i)))].first >= 0;
    if (planned && used && !placed.contains(static_cast<int>(i)))
      checker.problems.add(fmt::format("plan of {}: buffer '{}'", module.name, buffer.name),
                           "has no place");
  }
  checker.check_pairs();
  checker.check_constants();
  return Result<void>::from(checker.problems);
}

}  // namespace intarsia
