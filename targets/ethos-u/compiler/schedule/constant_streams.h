// Constants in the form the hardware reads them: scale records and weight streams, per core.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "hardware/hardware.h"
#include "program/program.h"
#include "schedule/block_config.h"
#include "schedule/schedule.h"
#include "weights/encoded_streams.h"

namespace intarsia::targets::ethos_u {

// Weights and scales of the OFM channels first .. end-1 of an operation, ready to be one piece of
// memory. Spans are relative to it; their storage is not set.
struct ConstantStream {
  std::vector<uint8_t> bytes;
  std::vector<Span> weights, scales;  // one per core
  double header_cycles = 0;           // to decode the headers of the core that has most
};

// Streams of a program that have been made: by view of the schedule, output channels first and end, the depth of the block, whether
// it goes through parts of kernels, and whether decoding counts. Each schedule that is tried asks for most of them again; all have
// the same views.
using KnownConstantStreams =
    std::map<std::tuple<int32_t, int32_t, int32_t, int32_t, bool, bool>, ConstantStream>;

// Before the stream is known: one slice with the largest palette.
double least_header_cycles();

// Whether the MAC array is through with a block's weights before the decoder has the next ones: where the block's plane has
// few micro-blocks.
bool decoder_sets_pace(const Hardware& hardware, const BlockConfig& block);

// `decoding_counts`: a cycle in which the decoder stands still for headers is worth the bits of the weights that it would
// have put out, so that a percent of decoding weighs as much as a percent of length. Else the shortest stream is the best.
ConstantStream make_constant_stream(EncodedStreams& encoded, const Hardware& hardware,
                                    const Operation& operation, DataType ifm_type,
                                    const BlockConfig& block, int32_t first, int32_t end,
                                    bool decoding_counts);

// The same in two pieces of memory, to each of which its spans are relative.
struct ConstantParts {
  std::vector<uint8_t> weight_bytes, scale_bytes;
  std::vector<Span> weights, scales;
};
ConstantParts in_parts(const ConstantStream& stream);

}  // namespace intarsia::targets::ethos_u
