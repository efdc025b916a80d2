// The commands of one layer after another.
#pragma once

#include <cstdint>
#include <vector>

#include "commands/mce_registers.h"
#include "commands/stream_builder.h"
#include "commands/stripe_commands.h"
#include "commands/transfers.h"
#include "encode/network_writer.h"
#include "program/program.h"
#include "schedule/placement.h"
#include "stripes/stripes.h"

namespace intarsia::targets::ethos_n {

class LayerWriter {
 public:
  LayerWriter(const Variant& variant, StreamBuilder& stream, NetworkWriter& network,
              const std::vector<StoragePlace>& places, LoadedKernel& loaded)
      : variant_(variant),
        stream_(stream),
        network_(network),
        transfers_(variant, stream, places),
        loaded_(loaded) {}

  // `weights`: stripes as the plan has them, of a layer with an MCE.
  void write(const Layer& layer, const LayerPlacement& placement,
             const std::vector<WeightStripe>& weights);

 private:
  struct PleAgent {
    uint32_t agent = 0;
    const PleKernel* kernel = nullptr;
  };

  void write_mce(const Layer& layer, const LayerPlacement& placement,
                 const std::vector<WeightStripe>& weights);
  void write_ple(const Layer& layer, const LayerPlacement& placement);
  void write_copy(const Layer& layer, const LayerPlacement& placement);

  PleAgent add_ple(const Layer& layer, int64_t kernel_at);

  const Variant& variant_;
  StreamBuilder& stream_;
  NetworkWriter& network_;
  Transfers transfers_;
  LoadedKernel& loaded_;
};

}  // namespace intarsia::targets::ethos_n
