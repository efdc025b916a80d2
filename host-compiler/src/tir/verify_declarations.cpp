#include <fmt/format.h>

#include <set>

#include "tir/names.h"
#include "tir/text.h"
#include "tir/verify_parts.h"

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

void verify_alias(const Func& func, size_t index, const std::string& where, Diagnostics& problems) {
  const Buffer& buffer = func.buffers[index];
  if (buffer.alias == BufferId{}) return;
  if (!buffer.alias.valid() || buffer.alias.at() >= index) {
    problems.add(where, "is an alias of no earlier buffer");
    return;
  }
  const Buffer& root = func.buffer(buffer.alias);
  if (buffer.scope != Scope::Local) problems.add(where, "is an alias but not a local buffer");
  if (root.scope == Scope::Register || root.scope == Scope::Constant)
    problems.add(where,
                 fmt::format("is an alias of '{}', which has no memory to share", root.name));
  if (root.bytes() != buffer.bytes())
    problems.add(where, fmt::format("is an alias of '{}' of another size", root.name));
}

}  // namespace

void verify_declarations(const Module& module, const Func& func, Diagnostics& problems) {
  verify_names(func, problems);
  if (func.parameters.size() > func.buffers.size())
    problems.add(place(func), "has more parameters than buffers");
  for (size_t i = 0; i < func.buffers.size(); ++i) {
    const Buffer& buffer = func.buffers[i];
    const std::string where = fmt::format("{}, buffer '{}'", place(func), buffer.name);
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
  if (func.body == nullptr) problems.add(place(func), "has no body");
}

}  // namespace intarsia::tir
