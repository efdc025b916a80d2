// What watches the runs of a simulated device: the checker, which is always on, and the timeline, from
// which traces and profiles are written when somebody asks for them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "intarsia/targets/ethos_u/checker.h"
#include "intarsia/targets/ethos_u/injected_faults.h"
#include "intarsia/targets/ethos_u/timeline.h"
#include "intarsia/targets/ethos_u/trace.h"

namespace intarsia::simulators::ethos_u {

// What is wanted of the runs.
struct Recording {
  bool trace = false, profile = false;
  std::string marks;     // isa/marks.h; names of operators come from it
  int first_device = 0;  // its number
  std::function<void(const std::string& line)> say = {};  // told what is wrong; empty: nobody
  InjectedFaults faults = {};                             // of every device
};

// Collects runs of all devices of a program.
class Recorder {
 public:
  explicit Recorder(Recording recording);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  int add_device() { return devices_++; }
  void say(const std::string& line) const {
    if (recording_.say) recording_.say(line);
  }
  std::string trace_text() const { return trace_.text(); }  // trace.h
  const std::string& trace_events() const { return trace_.events(); }
  std::string profile_text() const;  // an array of profile.h's objects: of each stream the last run
  void add(int device, std::string_view tag, std::span<const uint8_t> stream,
           const Timeline& timeline);
  // Which operator of the model a command of the stream is of; empty: not known.
  NodeOf nodes_of(std::span<const uint8_t> stream) const;
  // The memory that the stream was made for; null: not known.
  struct KnownRegion {
    uint64_t bytes = 0;
    bool is_constant = false;
    std::vector<std::pair<uint64_t, uint64_t>> holds, yields;  // offsets and lengths
    bool is_left = false, is_found = false;  // by streams of the model, one after another
  };
  using KnownMemory = std::map<uint32_t, KnownRegion>;
  const KnownMemory* memory_of(std::span<const uint8_t> stream) const;
  // Which bytes of the memory at `region` streams have written that leave it to later ones.
  void leave(const uint8_t* region, std::vector<uint8_t> written);
  std::vector<uint8_t> left_in(const uint8_t* region);

 private:
  struct Profile {
    int device;
    const void* stream;
    std::string text;
  };
  std::mutex guard_;  // devices of several cores run at the same time
  Recording recording_;
  Trace trace_;
  std::vector<Profile> profiles_;
  // By key of the stream: offsets of the first commands, in order, and names.
  std::map<uint64_t, std::vector<std::pair<uint32_t, std::string>>> marks_;
  std::map<uint64_t, KnownMemory> memories_;
  std::map<const uint8_t*, std::vector<uint8_t>> left_;
  int devices_;
};

// Of one run.
class Watch final : public CycleModel {
 public:
  Watch(const Configuration& configuration, const isa::ethos_u::MemorySystem& memories,
        std::span<const uint8_t> stream, Recorder& recorder, int device);

  void command(const DecodedCommand& command) override {
    each([&](Observer& o) { o.command(command); });
  }
  void before(const Operation& op, const Memory& memory) override {
    each([&](Observer& o) { o.before(op, memory); });
  }
  void after(const Operation& op, const Memory& memory) override {
    each([&](Observer& o) { o.after(op, memory); });
  }
  void before(const DmaTransfer& dma, const Memory& memory) override {
    each([&](Observer& o) { o.before(dma, memory); });
  }
  void after(const DmaTransfer& dma, const Memory& memory) override {
    each([&](Observer& o) { o.after(dma, memory); });
  }
  void wait(const Wait& wait) override {
    each([&](Observer& o) { o.wait(wait); });
  }
  void stop(const DecodedCommand& command) override {
    each([&](Observer& o) { o.stop(command); });
  }

  void limit(Memory& memory) override;
  std::optional<Fault> finish(const Outcome& outcome) override;
  uint64_t cycles() const override { return timeline_.cycles(); }
  uint64_t events(uint32_t number) const override { return timeline_.events(number); }

 private:
  template <typename Call>
  void each(const Call& call) {
    call(checker_);
    call(timeline_);
  }

  const Configuration& configuration_;
  std::span<const uint8_t> stream_;
  Checker checker_;
  Timeline timeline_;
  Recorder& recorder_;
  int device_;
  std::map<uint32_t, const uint8_t*> left_;  // regions for later streams, and where they are
};

}  // namespace intarsia::simulators::ethos_u
