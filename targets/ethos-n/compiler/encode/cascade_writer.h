// The commands of layers that run together, step by step.
#pragma once

#include <optional>
#include <vector>

#include "commands/stream_builder.h"
#include "commands/stripe_commands.h"
#include "commands/transfers.h"
#include "encode/network_writer.h"
#include "schedule/cascade.h"

namespace intarsia::targets::ethos_n {

class CascadeWriter {
 public:
  CascadeWriter(const Variant& variant, const Program& program, StreamBuilder& stream,
                NetworkWriter& network, const std::vector<StoragePlace>& places,
                LoadedKernel& loaded, WeightStore& weights)
      : variant_(variant),
        program_(program),
        stream_(stream),
        network_(network),
        transfers_(variant, stream, places),
        loaded_(loaded),
        weights_(weights) {}

  void write(const Cascade& cascade);

 private:
  struct LayerAgents {
    uint32_t mce = 0, ple = 0, weights = 0;
    std::vector<int64_t> parts_at;  // in the buffer of the weights
  };
  struct MapAgents {
    uint32_t loader = 0;
    std::vector<uint32_t> storers;
  };

  void add_agents(const Cascade& cascade);
  void write_loads(const Cascade& cascade, const CascadeStep& step);
  void write_mce(const Cascade& cascade, const CascadeStep& step);
  void write_part(const Cascade& cascade, const CascadeStep& step, int64_t part,
                  int64_t weights_at);
  void write_ple(const Cascade& cascade, const CascadeStep& step);
  void write_stores(const Cascade& cascade, const CascadeStep& step);
  const Layer& layer_of(const CascadeLayer& made) const { return program_.layers[made.number]; }

  const Variant& variant_;
  const Program& program_;
  StreamBuilder& stream_;
  NetworkWriter& network_;
  Transfers transfers_;
  LoadedKernel& loaded_;
  WeightStore& weights_;
  // Of the cascade that is written.
  std::vector<LayerAgents> layers_;
  std::vector<MapAgents> maps_;
  std::vector<uint32_t> kernels_;          // loaders
  std::optional<size_t> running_;          // the layer of the step before
  const PleKernel* configured_ = nullptr;  // whose blocks the MCE sends
  Event configuration_;
};

}  // namespace intarsia::targets::ethos_n
