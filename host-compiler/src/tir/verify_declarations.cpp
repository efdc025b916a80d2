#include <fmt/format.h>

#include <optional>
#include <set>

#include "tir/identifiers.h"
#include "tir/text_words.h"
#include "tir/verify_steps.h"

namespace intarsia::tir {

namespace {

void verify_names(const Func& func, Diagnostics& problems) {
  std::set<std::string> seen;
  const auto check = [&](const std::string& what, const std::string& name) {
    if (!is_identifier(name) || is_reserved_in_c(name))
      problems.add(place(func), fmt::format("'{}' is no name for a {}: it is no C identifier or is "
                                            "reserved in C",
                                            name, what));
    if (!seen.insert(name).second)
      problems.add(place(func), fmt::format("two buffers or variables are called '{}'", name));
  };
  for (const Buffer& buffer : func.buffers) check("buffer", buffer.name);
  for (const Var& var : func.vars) check("variable", var.name);
}

void verify_extents(const Buffer& buffer, const std::string& where, Diagnostics& problems) {
  int64_t elements = 1;
  for (const int64_t extent : buffer.extents) {
    if (extent < 1) problems.add(where, fmt::format("extent {} is less than 1", extent));
    if (extent >= 1 && elements <= INT32_MAX) elements *= std::min<int64_t>(extent, INT32_MAX);
  }
  if (elements > INT32_MAX)
    problems.add(where, "has more elements than an i32 index can count", "split the buffer");
  const int32_t least = natural_alignment(buffer.type);
  const int32_t alignment = buffer.alignment;
  if (alignment < least || (alignment & (alignment - 1)) != 0)
    problems.add(
        where, fmt::format("alignment {} is not a power of two of at least {}", alignment, least));
}

void verify_constant(const Module& module, const Buffer& buffer, const std::string& where,
                     Diagnostics& problems) {
  if (buffer.initial_values.valid()) {
    const ConstantId id = buffer.initial_values;
    const bool fits =
        id.at() < module.constants.size() && module.constant(id).type == buffer.type &&
        byte_size(module.constant(id).type, module.constant(id).extents) == buffer.bytes();
    if (!buffer.initial || !fits)
      problems.add(where, "has initial values that are not a state's of its type and size");
  }
  if (buffer.scope != Scope::Constant) {
    if (buffer.constant.valid()) problems.add(where, "names a constant but is not in that scope");
    return;
  }
  if (!buffer.constant.valid() || buffer.constant.at() >= module.constants.size()) {
    problems.add(where, fmt::format("constant {} does not exist", buffer.constant.index));
    return;
  }
  const Constant& constant = module.constant(buffer.constant);
  if (constant.type != buffer.type || byte_size(constant.type, constant.extents) != buffer.bytes())
    problems.add(where,
                 fmt::format("does not fit constant '{}': type or size differ", constant.name));
}

// Follows the aliases from `index` to their root; nothing when they name no buffer, or a cycle.
std::optional<size_t> find_root(const Func& func, size_t index) {
  for (size_t hops = 0; hops <= func.buffers.size(); ++hops) {
    const BufferId next = func.buffers[index].alias;
    if (next == BufferId{}) return index;
    if (!next.valid() || next.at() >= func.buffers.size()) return std::nullopt;
    index = next.at();
  }
  return std::nullopt;
}

void verify_alias(const Func& func, size_t index, const std::string& where, Diagnostics& problems) {
  const Buffer& buffer = func.buffers[index];
  if (buffer.alias == BufferId{}) {
    if (buffer.alias_offset != 0) problems.add(where, "has an offset but is no alias");
    return;
  }
  const std::optional<size_t> found = find_root(func, index);
  if (!found) {
    problems.add(where, "is an alias of no buffer");
    return;
  }
  const Buffer& root = func.buffers[*found];
  const Buffer& target = func.buffer(buffer.alias);
  const bool of_schedule = func.body != nullptr && has_calls(func) && !func.tiled;
  if (!of_schedule && !func.stepwise)
    problems.add(where, "is an alias, which only schedules and stepwise functions have");
  const bool is_parameter = of_schedule && buffer.scope == Scope::Parameter;
  if (buffer.scope != Scope::Local && !is_parameter)
    problems.add(where, "is an alias but not a local buffer");
  if (root.scope == Scope::Register || root.scope == Scope::Constant)
    problems.add(where,
                 fmt::format("is an alias of '{}', which has no memory to share", root.name));
  if (is_parameter && root.scope == Scope::Parameter)
    problems.add(where, fmt::format("and '{}' are parameters of the same bytes", root.name));
  if (buffer.alias_offset < 0 || buffer.alias_offset > target.bytes() - buffer.bytes())
    problems.add(where,
                 fmt::format("is an alias of '{}' and does not lie within it: {} bytes at {} of {}",
                             target.name, buffer.bytes(), buffer.alias_offset, target.bytes()));
  else if (buffer.alignment > 0 && buffer.alias_offset % buffer.alignment != 0)
    problems.add(where, fmt::format("is an alias at {}, which its alignment of {} forbids",
                                    buffer.alias_offset, buffer.alignment));
}

}  // namespace

void verify_declarations(const Module& module, const Func& func, Diagnostics& problems) {
  verify_names(func, problems);
  if (func.parameters.size() > func.buffers.size())
    problems.add(place(func), "has more parameters than buffers");
  for (size_t i = 0; i < func.buffers.size(); ++i) {
    const Buffer& buffer = func.buffers[i];
    const std::string where = fmt::format("{}, buffer '{}'", place(func), buffer.name);
    if (buffer.initial && buffer.scope != Scope::Local)
      problems.add(where, "keeps state but is no local buffer");
    verify_extents(buffer, where, problems);
    verify_constant(module, buffer, where, problems);
    verify_alias(func, i, where, problems);
    if ((i < func.parameters.size()) != (buffer.scope == Scope::Parameter))
      problems.add(where, "parameters are the first buffers, and only those");
  }
  const auto count = static_cast<int32_t>(func.parameters.size());
  for (const InPlace& pair : func.in_place)
    if (pair.input < 0 || pair.output < 0 || pair.input >= count || pair.output >= count ||
        pair.input == pair.output)
      problems.add(place(func), fmt::format("in-place pair {} -> {} names no two parameters",
                                            pair.input, pair.output));
  for (const Overlap& overlap : func.overlaps)
    if (overlap.input < 0 || overlap.output < 0 || overlap.input >= count ||
        overlap.output >= count || overlap.input == overlap.output || overlap.distance < 0)
      problems.add(place(func),
                   fmt::format("overlap {} -> {} at {} names no two parameters at a distance",
                               overlap.input, overlap.output, overlap.distance));
  if (!func.overlaps.empty() && !func.tiled)
    problems.add(place(func), "has overlaps, which only tiled functions have");
  if (func.body == nullptr) problems.add(place(func), "has no body");
  if (func.body != nullptr && func.stepwise && !is_intrinsics_only(func))
    problems.add(place(func), "is stepwise but not a sequence of intrinsics");
}

}  // namespace intarsia::tir
