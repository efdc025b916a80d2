#include "intarsia/targets/ethos_u/watch.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "intarsia/targets/ethos_u/marks.h"
#include "intarsia/targets/ethos_u/profile.h"

namespace intarsia::simulators::ethos_u {
namespace {

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

void write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool written =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (!written) std::fprintf(stderr, "ethos-u simulator: %s cannot be written\n", path.c_str());
  if (file != nullptr) std::fclose(file);
}

}  // namespace

Recorder::Recorder()
    : trace_file_(from_environment("INTARSIA_DEVICE_TRACE")),
      profile_file_(from_environment("INTARSIA_DEVICE_PROFILE")) {
  std::ifstream file(from_environment("INTARSIA_DEVICE_MARKS"));
  for (std::string line; std::getline(file, line);) {
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

Recorder::~Recorder() {
  if (!trace_file_.empty()) write_file(trace_file_, trace_.text());
  if (profile_file_.empty()) return;
  std::string all = "[";
  for (const Profile& profile : profiles_) (all += all.size() > 1 ? "," : "") += profile.text;
  write_file(profile_file_, all += "]\n");
}

void Recorder::add(int device, std::string_view tag, std::span<const uint8_t> stream,
                   const Timeline& timeline) {
  const std::lock_guard lock(guard_);
  const NodeOf node_of = nodes_of(stream);
  if (!trace_file_.empty()) trace_.add(device + 1, tag, timeline, node_of);
  if (profile_file_.empty()) return;
  const auto known = std::find_if(profiles_.begin(), profiles_.end(), [&](const Profile& profile) {
    return profile.device == device && profile.stream == stream.data();
  });
  if (known != profiles_.end())
    known->text = profile_text(tag, timeline, node_of);
  else
    profiles_.push_back({device, stream.data(), profile_text(tag, timeline, node_of)});
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
  }
}

std::optional<Fault> Watch::finish(const Outcome& outcome) {
  checker_.finish(outcome);
  timeline_.finish();
  recorder_.add(device_, configuration_.tag, stream_, timeline_);
  const FindingList& findings = checker_.findings();
  for (const Finding& finding : findings.all())
    if (finding.kind != FindingKind::Stopped)  // which the device reports as a fault
      std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(configuration_.tag.size()),
                   configuration_.tag.data(), finding.to_string().c_str());
  if (findings.left_out() > 0) std::fprintf(stderr, "and %zu findings more\n", findings.left_out());
  if (findings.all().empty() || outcome.fault) return std::nullopt;
  const Finding& first = findings.all()[0];
  return Fault{Cause::Operand, first.offset, "",
               "the stream checker found a mistake: " + std::string(to_string(first.kind))};
}

}  // namespace intarsia::simulators::ethos_u
