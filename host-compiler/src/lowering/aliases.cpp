#include "lowering/aliases.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace intarsia::lowering {
namespace {

using tir::Buffer;
using tir::BufferId;

// Union-find in which every buffer knows its distance to the representative of its class.
class Distances {
 public:
  explicit Distances(size_t count) : up_(count) {
    for (size_t i = 0; i < count; ++i) up_[i] = {i, 0};
  }

  struct Position {
    size_t representative;
    int64_t offset;  // of the buffer's first byte from the representative's
  };
  Position position(size_t buffer) const {
    Position result{buffer, 0};
    while (up_[result.representative].representative != result.representative) {
      result.offset += up_[result.representative].offset;
      result.representative = up_[result.representative].representative;
    }
    return result;
  }

  // `buffer` begins `offset` bytes after `target`. False: they are tied with another distance.
  bool tie(size_t buffer, size_t target, int64_t offset) {
    const Position a = position(buffer), b = position(target);
    if (a.representative == b.representative) return a.offset == b.offset + offset;
    up_[a.representative] = {b.representative, b.offset + offset - a.offset};
    return true;
  }

 private:
  std::vector<Position> up_;
};

struct Member {
  size_t buffer;
  int64_t offset;  // from the first byte of the class
};

// The index of the buffer that all others of the class become aliases of.
size_t choose_root(tir::Func& schedule, const std::vector<Member>& members, int64_t bytes) {
  for (const Member& member : members) {
    const Buffer& buffer = schedule.buffers[member.buffer];
    if (buffer.scope == tir::Scope::Local && member.offset == 0 && buffer.bytes() == bytes)
      return member.buffer;
  }
  std::set<std::string> names;
  for (const Buffer& buffer : schedule.buffers) names.insert(buffer.name);
  Buffer arena{"arena", DataType::Int8, {bytes}, tir::Scope::Local, {}, {}, 1};
  for (int i = 2; names.contains(arena.name); ++i) arena.name = fmt::format("arena_{}", i);
  schedule.buffers.push_back(std::move(arena));
  return schedule.buffers.size() - 1;
}

void rewrite_class(tir::Func& schedule, std::vector<Member> members) {
  int64_t first = members.front().offset, end = first;
  for (const Member& member : members) {
    first = std::min(first, member.offset);
    end = std::max(end, member.offset + schedule.buffers[member.buffer].bytes());
  }
  for (Member& member : members) member.offset -= first;
  const size_t root = choose_root(schedule, members, end - first);
  for (const Member& member : members) {
    Buffer& whole = schedule.buffers[root];
    Buffer& buffer = schedule.buffers[member.buffer];
    whole.alignment = std::max(whole.alignment, buffer.alignment);
    if (whole.memory.empty()) whole.memory = buffer.memory;
    buffer.alias = member.buffer == root ? BufferId{} : BufferId{static_cast<int32_t>(root)};
    buffer.alias_offset = member.buffer == root ? 0 : member.offset;
  }
}

}  // namespace

Result<void> fulfil_aliases(tir::Func& schedule, const std::vector<AliasRequest>& requests) {
  if (requests.empty()) return {};
  Distances distances(schedule.buffers.size());
  for (size_t i = 0; i < schedule.buffers.size(); ++i)
    if (const Buffer& buffer = schedule.buffers[i]; buffer.alias.valid())
      INTARSIA_CHECK(distances.tie(i, buffer.alias.at(), buffer.alias_offset),
                     "a buffer is an alias of one other");
  Diagnostics problems;
  for (const AliasRequest& request : requests)
    if (!distances.tie(request.buffer.at(), request.target.at(), request.offset))
      problems.add(
          fmt::format("{}: buffer '{}'", schedule.name, schedule.buffer(request.buffer).name),
          fmt::format("would have to be at two places: its regions share an arena and do not "
                      "agree on its address ({} in '{}')",
                      request.offset, schedule.buffer(request.target).name),
          "compile the model again as a whole");
  if (!problems.empty()) return problems;

  std::set<size_t> touched;
  for (const AliasRequest& request : requests)
    touched.insert(distances.position(request.buffer.at()).representative);
  std::map<size_t, std::vector<Member>> classes;
  const size_t count = schedule.buffers.size();
  for (size_t i = 0; i < count; ++i) {
    const Distances::Position position = distances.position(i);
    if (touched.contains(position.representative))
      classes[position.representative].push_back({i, position.offset});
  }
  for (auto& [representative, members] : classes) rewrite_class(schedule, std::move(members));
  return {};
}

}  // namespace intarsia::lowering
