#include "intarsia/targets/ethos_u/watch.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "intarsia/targets/ethos_u/marks.h"
#include "intarsia/targets/ethos_u/profile.h"

namespace intarsia::simulators::ethos_u {

Recorder::Recorder(Recording recording)
    : recording_(std::move(recording)), devices_(recording_.first_device) {
  std::istringstream lines(recording_.marks);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    uint64_t key = 0;
    std::string what, name;
    if (!(fields >> std::hex >> key >> std::dec >> what)) continue;
    uint32_t index = 0;
    uint64_t offset = 0, bytes = 0;
    if (what == "region" && fields >> index >> bytes) {
      // Streams of the same bytes may have memory of different sizes.
      KnownRegion& region = memories_[key][index];
      region.bytes = std::max(region.bytes, bytes);
      region.is_constant = static_cast<bool>(fields >> name) && name == "const";
    } else if (what == "holds" && fields >> index >> offset >> bytes) {
      memories_[key][index].holds.emplace_back(offset, bytes);
    } else if (what == "yields" && fields >> index >> offset >> bytes) {
      memories_[key][index].yields.emplace_back(offset, bytes);
    } else if ((what == "leaves" || what == "finds") && fields >> index) {
      KnownRegion& region = memories_[key][index];
      (what == "leaves" ? region.is_left : region.is_found) = true;
    } else if (std::isdigit(static_cast<unsigned char>(what[0])) &&
               std::getline(fields >> std::ws, name)) {
      marks_[key].emplace_back(static_cast<uint32_t>(std::stoul(what)), name);
    }
  }
}

const Recorder::KnownMemory* Recorder::memory_of(std::span<const uint8_t> stream) const {
  if (memories_.empty()) return nullptr;
  const auto found = memories_.find(isa::ethos_u::stream_key(stream));
  return found == memories_.end() ? nullptr : &found->second;
}

void Recorder::leave(const uint8_t* region, std::vector<uint8_t> written) {
  const std::lock_guard lock(guard_);
  left_[region] = std::move(written);
}

std::vector<uint8_t> Recorder::left_in(const uint8_t* region) {
  const std::lock_guard lock(guard_);
  const auto found = left_.find(region);
  return found == left_.end() ? std::vector<uint8_t>() : found->second;
}

NodeOf Recorder::nodes_of(std::span<const uint8_t> stream) const {
  if (marks_.empty()) return {};
  const auto found = marks_.find(isa::ethos_u::stream_key(stream));
  if (found == marks_.end()) return {};
  return [&marks = found->second](uint32_t offset) {
    const auto next =
        std::upper_bound(marks.begin(), marks.end(), offset,
                         [](uint32_t at, const auto& mark) { return at < mark.first; });
    return next == marks.begin() ? std::string() : std::prev(next)->second;
  };
}

std::string Recorder::profile_text() const {
  std::string all = "[";
  for (const Profile& profile : profiles_) (all += all.size() > 1 ? "," : "") += profile.text;
  return all += "]\n";
}

void Recorder::add(int device, std::string_view tag, std::span<const uint8_t> stream,
                   const Timeline& timeline) {
  const std::lock_guard lock(guard_);
  const NodeOf node_of = nodes_of(stream);
  if (recording_.trace) trace_.add(device + 1, tag, timeline, node_of);
  if (!recording_.profile) return;
  const auto known = std::find_if(profiles_.begin(), profiles_.end(), [&](const Profile& profile) {
    return profile.device == device && profile.stream == stream.data();
  });
  if (known != profiles_.end())
    known->text = ethos_u::profile_text(tag, timeline, node_of);
  else
    profiles_.push_back({device, stream.data(), ethos_u::profile_text(tag, timeline, node_of)});
}

Watch::Watch(const Configuration& configuration, const isa::ethos_u::MemorySystem& memories,
             std::span<const uint8_t> stream, Recorder& recorder, int device)
    : configuration_(configuration),
      stream_(stream),
      checker_(configuration, stream, {recorder.nodes_of(stream)}),
      timeline_(configuration, memories),
      recorder_(recorder),
      device_(device) {
  const Recorder::KnownMemory* known = recorder.memory_of(stream);
  if (known == nullptr) return;
  for (const auto& [index, region] : *known) {
    if (region.is_constant) continue;
    checker_.forget(index, region.bytes);
    for (const auto& [offset, bytes] : region.holds) checker_.set(index, offset, bytes);
    for (const auto& [offset, bytes] : region.yields) checker_.expect(index, offset, bytes);
  }
}

void Watch::limit(Memory& memory) {
  const Recorder::KnownMemory* known = recorder_.memory_of(stream_);
  if (known == nullptr) return;
  for (uint32_t i = 0; i < kRegions; ++i) {
    const auto region = known->find(i);
    if (region == known->end()) {
      memory.regions[i] = {};
      continue;
    }
    memory.regions[i].bytes = std::min(memory.regions[i].bytes, region->second.bytes);
    memory.regions[i].writable &= !region->second.is_constant;
    const uint8_t* data = memory.regions[i].data;
    if (region->second.is_found) checker_.set_written(i, recorder_.left_in(data));
    if (region->second.is_left) left_[i] = data;
  }
}

std::optional<Fault> Watch::finish(const Outcome& outcome) {
  checker_.finish(outcome);
  timeline_.finish();
  for (const auto& [index, data] : left_) recorder_.leave(data, checker_.written(index));
  recorder_.add(device_, configuration_.tag, stream_, timeline_);
  const FindingList& findings = checker_.findings();
  for (const Finding& finding : findings.all())
    if (finding.kind != FindingKind::Stopped)  // which the device reports as a fault
      recorder_.say(std::string(configuration_.tag) + ": " + finding.to_string());
  if (findings.left_out() > 0)
    recorder_.say("and " + std::to_string(findings.left_out()) + " findings more");
  if (findings.all().empty() || outcome.fault) return std::nullopt;
  const Finding& first = findings.all()[0];
  return Fault{Cause::Operand, first.offset, "",
               "the stream checker found a mistake: " + std::string(to_string(first.kind))};
}

}  // namespace intarsia::simulators::ethos_u
