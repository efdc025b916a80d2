#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "intarsia/engine.h"
#include "intarsia/plugin/check.h"
#include "support/worker_threads.h"

namespace intarsia {
namespace {

// Samples are dealt to threads one at a time; each thread has an engine, and outputs have their places already.
class Batch {
 public:
  Batch(const CompiledModel& model, const EngineRegistry& registry, const SampleSet& set)
      : model_(model), registry_(registry), set_(set) {}

  Result<std::vector<Engine::Bytes>> run() {
    // The first engine says whether there can be any.
    INTARSIA_TRY(Engine first, Engine::make(model_, registry_));
    for (const TensorInfo& output : first.outputs())
      outputs_.emplace_back(static_cast<size_t>(output.bytes) * set_.samples);
    const size_t cores =
        set_.threads > 0 ? set_.threads : std::max(1u, std::thread::hardware_concurrency());
    WorkerThreads others;
    for (size_t t = 1; t < std::min(cores, set_.samples); ++t)
      if (!others.start([this] { work_with_own_engine(); })) break;
    work(first);
    others.join();
    if (!problems_.empty()) return problems_;
    return std::move(outputs_);
  }

 private:
  std::vector<std::span<const uint8_t>> inputs_of(const Engine& engine, size_t sample) const {
    std::vector<std::span<const uint8_t>> bytes;
    for (size_t i = 0; i < set_.inputs.size(); ++i) {
      const auto size = static_cast<size_t>(engine.inputs()[i].bytes);
      const std::span<const uint8_t> all = set_.inputs[i];
      INTARSIA_CHECK(all.size() == size || all.size() == size * set_.samples,
                     "an input holds all samples, or one for all");
      bytes.push_back(all.subspan(all.size() == size ? 0 : sample * size, size));
    }
    return bytes;
  }

  void work_with_own_engine() {
    Result<Engine> engine = Engine::make(model_, registry_);
    if (engine.ok())
      work(engine.value());
    else
      stop(engine.error());
  }

  void work(Engine& engine) {
    for (size_t sample = next_++; sample < set_.samples && !stopped_; sample = next_++) {
      engine.reset();
      Result<std::vector<Engine::Bytes>> made = engine.run(inputs_of(engine, sample));
      if (!made.ok()) return stop(made.error());
      for (size_t i = 0; i < made->size(); ++i)
        std::copy((*made)[i].begin(), (*made)[i].end(),
                  outputs_[i].begin() + static_cast<int64_t>(sample * (*made)[i].size()));
      const std::lock_guard lock(guard_);
      if (++done_, set_.on_progress && !set_.on_progress(done_)) stopped_ = true;
    }
  }

  void stop(const Diagnostics& problems) {
    const std::lock_guard lock(guard_);
    if (!stopped_.exchange(true)) problems_ = problems;
  }

  const CompiledModel& model_;
  const EngineRegistry& registry_;
  const SampleSet& set_;
  std::vector<Engine::Bytes> outputs_;
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex guard_;
  size_t done_ = 0;
  Diagnostics problems_;
};

}  // namespace

Result<std::vector<Engine::Bytes>> run_samples(const CompiledModel& model,
                                               const EngineRegistry& registry,
                                               const SampleSet& set) {
  return Batch(model, registry, set).run();
}

}  // namespace intarsia
