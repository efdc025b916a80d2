// The commands of one layer after another.
#pragma once

#include <cstdint>
#include <vector>

#include "mce_registers.h"
#include "network_writer.h"
#include "program.h"
#include "stream_builder.h"
#include "stripes.h"
#include "transfers.h"

namespace intarsia::targets::ethos_n {

class LayerWriter {
 public:
  LayerWriter(const Variant& variant, StreamBuilder& stream, NetworkWriter& network,
              const std::vector<StoragePlace>& places)
      : variant_(variant), stream_(stream), network_(network), transfers_(variant, stream, places) {}

  void write(const Layer& layer);

 private:
  // Where things are in SRAM: bytes of a bank.
  struct Sram {
    int64_t kernel = 0, inputs = 0, weights = 0, outputs = 0;
  };
  struct PleAgent {
    uint32_t agent = 0;
    const PleKernel* kernel = nullptr;
  };

  void write_mce(const Layer& layer, const StripePlan& plan);
  void write_ple(const Layer& layer, const StripePlan& plan);
  void write_copy(const Layer& layer, const StripePlan& plan);

  // A place for all of the layer, behind that of the layer before, so that the first commands of the
  // one need not wait for the last of the other.
  Sram take(const StripePlan& plan, size_t inputs);
  PleAgent add_ple(const Layer& layer, int64_t kernel_at, uint32_t input_mode);
  uint32_t kernel_number(const PleKernel& kernel) const {
    return static_cast<uint32_t>(variant_.number * kKernelsOfVariant + kernel.number);
  }

  const Variant& variant_;
  StreamBuilder& stream_;
  NetworkWriter& network_;
  Transfers transfers_;
  int64_t next_ = 0;
  const PleKernel* loaded_ = nullptr;
};

}  // namespace intarsia::targets::ethos_n
