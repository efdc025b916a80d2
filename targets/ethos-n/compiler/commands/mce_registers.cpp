#include "commands/mce_registers.h"

#include <algorithm>

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr int64_t kPatchesOfInram = 64;  // of 16 bytes: what an OG's interface to the PLE buffers
constexpr int64_t kMostBuffers = 16;
constexpr int64_t kOgsOfRow = 4;  // of MUL_ENABLE, IFM_PAD and IFM_CONFIG2
constexpr int64_t kMostDelta = 15;
constexpr uint32_t kAllIgs = UINT32_MAX;

int64_t group_stride(const Variant& variant, const FeatureMap& map) {
  return ceil_div(map.depth, variant.srams()) * kGroupBytes;
}

// Rows and columns that a sub-filter sees of the input, from its first on.
int64_t seen(int64_t size, int64_t map, int64_t stride) {
  return ceil_div(size - map, stride);
}

bool has_below(const Layer& layer, const StripePlan& plan, int64_t stripe) {
  return plan.needs_neighbours && (stripe + 1) * plan.input_rows < layer.inputs[0].height;
}

}  // namespace

const PleKernel& kernel_for(const Layer& layer) {
  const PleKernel* best = nullptr;
  const PleType type = layer.output.is_signed ? PleType::Signed : PleType::Unsigned;
  for (const PleKernel& kernel : ple_kernels()) {
    if (kernel.operation != layer.ple->operation || kernel.direction != layer.ple->direction)
      continue;
    if (kernel.type != PleType::Any && kernel.type != type) continue;
    const auto rank = [](const PleKernel& k) {
      return std::pair(k.block_width * k.block_height, k.blocks);
    };
    if (best == nullptr || rank(kernel) < rank(*best)) best = &kernel;
  }
  INTARSIA_CHECK(best != nullptr, "every operation has a kernel of both types");
  return *best;
}

AgentRecord mce_agent(const Layer& layer, const StripePlan& plan, const PleKernel& kernel,
                      uint32_t kernel_number, int64_t ifm_at) {
  const MceStep& step = *layer.mce;
  const FeatureMap& in = layer.inputs[0];
  uint32_t filter = 0, wide = 0;
  const int64_t mode = step.mode == MceMode::Depthwise        ? kFilterDepthwise
                       : step.mode == MceMode::FullyConnected ? kFilterVectorProduct
                                                              : kFilterNxM;
  filter |= reg::FILTER_mode.put(mode);
  std::vector<SubFilter> filters = sub_filters(step);
  if (is_wide(step)) {
    wide = reg::WIDE_KERNEL_CONTROL_enable.put(1) |
           reg::WIDE_KERNEL_CONTROL_width.put(wide_side(step.kernel_w)) |
           reg::WIDE_KERNEL_CONTROL_height.put(wide_side(step.kernel_h));
    filters[0].width = std::min<int64_t>(3, step.kernel_w);
    filters[0].height = std::min<int64_t>(3, step.kernel_h);
  }
  filters.resize(4, filters[0]);
  const Field widths[] = {reg::FILTER_width0, reg::FILTER_width1, reg::FILTER_width2,
                          reg::FILTER_width3};
  const Field heights[] = {reg::FILTER_height0, reg::FILTER_height1, reg::FILTER_height2,
                           reg::FILTER_height3};
  for (size_t i = 0; i < 4; ++i)
    filter |= widths[i].put(filters[i].width) | heights[i].put(filters[i].height);
  const int64_t patches = kernel.block_width * kernel.block_height / kPatchBytes;
  const int64_t width = is_vector_product(layer) ? 8 : round_up(in.width, 8);
  const int64_t height = is_vector_product(layer) ? 8 : round_up(plan.input_rows, 8);
  using namespace agent_field;
  return AgentRecord(AgentType::MCE_SCHEDULER)
      .set(MCE_SCHEDULER_operation, static_cast<uint32_t>(step.mode))
      .set(MCE_SCHEDULER_kernel, kernel_number)
      .set(MCE_SCHEDULER_ACTIVATION_CONFIG, reg::ACTIVATION_CONFIG_relu_min.put(step.relu_min) |
                                                reg::ACTIVATION_CONFIG_relu_max.put(step.relu_max))
      .set(MCE_SCHEDULER_WIDE_KERNEL_CONTROL, wide)
      .set(MCE_SCHEDULER_FILTER, filter)
      .set(MCE_SCHEDULER_IFM_ZERO_POINT, reg::IFM_ZERO_POINT_zero_point.put(in.zero_byte()))
      .set(MCE_SCHEDULER_IFM_DEFAULT_SLOT_SIZE, reg::IFM_DEFAULT_SLOT_SIZE_width.put(width) |
                                                    reg::IFM_DEFAULT_SLOT_SIZE_height.put(height))
      .set(MCE_SCHEDULER_IFM_SLOT_STRIDE, reg::IFM_SLOT_STRIDE_slot.put(plan.input_slot_bytes))
      .set(MCE_SCHEDULER_STRIPE_BLOCK_CONFIG,
           reg::STRIPE_BLOCK_CONFIG_width.put(kernel.block_width) |
               reg::STRIPE_BLOCK_CONFIG_height.put(kernel.block_height))
      .set(MCE_SCHEDULER_DEPTHWISE_CONTROL,
           reg::DEPTHWISE_CONTROL_ifms_per_ofm.put(static_cast<int64_t>(step.stride * step.stride)))
      .set(MCE_SCHEDULER_IFM_SLOT_BASE_ADDRESS, reg::IFM_SLOT_BASE_ADDRESS_address.put(ifm_at))
      .set(MCE_SCHEDULER_PLE_MCEIF_CONFIG,
           reg::PLE_MCEIF_CONFIG_buffers.put(std::min(kMostBuffers, kPatchesOfInram / patches)) |
               reg::PLE_MCEIF_CONFIG_size.put(patches));
}

int64_t input_stripes(const Layer& layer, const StripePlan& plan) {
  return is_vector_product(layer) ? 1 : ceil_div(layer.inputs[0].height, plan.input_rows);
}

std::vector<int64_t> input_slots(const Layer& layer, const StripePlan& plan, int64_t stripe) {
  std::vector<int64_t> slots = {stripe % plan.input_slots};
  if (plan.needs_neighbours && stripe > 0) slots.push_back((stripe - 1) % plan.input_slots);
  if (has_below(layer, plan, stripe)) slots.push_back((stripe + 1) % plan.input_slots);
  return slots;
}

CommandWords program_mce(const Variant& variant, const Layer& layer, const StripePlan& plan,
                         const PleKernel& kernel, uint32_t agent, const MceStripe& stripe) {
  const MceStep& step = *layer.mce;
  const FeatureMap& in = layer.inputs[0];
  const bool depthwise = step.mode == MceMode::Depthwise, vector = is_vector_product(layer);
  const std::vector<SubFilter> filters = sub_filters(step);
  CommandWords words(CommandType::ProgramMceStripe);
  words.set(word::Program_agent, agent);

  const int64_t resampling = step.upscale == Upscale::Nearest ? kResampleNearest
                             : step.upscale == Upscale::Zeros ? kResampleTranspose
                                                              : kResampleNone;
  const int32_t low = layer.output.is_signed ? -128 : 0, high = layer.output.is_signed ? 127 : 255;
  uint32_t control = reg::CE_CONTROL_sub_filters.put(static_cast<int64_t>(filters.size())) |
                     reg::CE_CONTROL_resampling.put(resampling) |
                     reg::CE_CONTROL_broadcast.put(depthwise ? 1 : 0) |
                     reg::CE_CONTROL_signed_ifm.put(in.is_signed ? 1 : 0) |
                     reg::CE_CONTROL_relu.put(step.relu_min > low || step.relu_max < high ? 1 : 0) |
                     reg::CE_CONTROL_ofm_type.put(layer.output.is_signed ? 1 : 0);
  if (resampling != kResampleNone)
    control |= reg::CE_CONTROL_odd_width.put(step.input_width % 2) |
               reg::CE_CONTROL_odd_height.put(step.input_height % 2);
  words.set(word::Program_CE_CONTROL, control);

  // A vector's channels are those of its bricks.
  const int64_t ifms = vector ? round_up(step.channels, kBrickGroupBytes) / kGroupBytes : in.depth;
  const int64_t real = vector ? ifms : step.channels;
  for (int64_t ce = 0; ce < variant.ces; ++ce) {
    for (int64_t og = 0; og < variant.ogs; ++og) {
      const int64_t generator = ce + variant.ces * og;
      uint32_t igs = kAllIgs;
      if (depthwise) igs = og < variant.igs && generator < stripe.ofms ? 1u << generator : 0;
      words.set(word::Program_MUL_ENABLE + static_cast<size_t>(ce * kOgsOfRow + og),
                reg::MUL_ENABLE_igs.put(igs));
    }
    for (int64_t ig = 0; ig < variant.igs; ++ig)
      words.set(word::Program_IFM_CONFIG2 + static_cast<size_t>(ce * kOgsOfRow + ig),
                reg::IFM_CONFIG2_ifms.put(ce + variant.ces * ig < real ? ifms : 0));
  }
  const int64_t stride = vector ? kGroupBytes : group_stride(variant, in);
  const int64_t row = vector ? stride : stride * ceil_div(in.width, 8);
  words.set(word::Program_IFM_ROW_STRIDE,
            reg::IFM_ROW_STRIDE_normal.put(row) | reg::IFM_ROW_STRIDE_residual.put(row));
  words.set(word::Program_IFM_CONFIG1,
            reg::IFM_CONFIG1_group_stride.put(stride) | reg::IFM_CONFIG1_ifms.put(ifms));

  // What of the input lies before and behind the stripe.
  const int64_t first = stripe.index * plan.input_rows * upscale_factor(layer);
  if (is_wide(step)) {
    words.set(word::Program_WIDE_KERNEL_OFFSET,
              reg::WIDE_KERNEL_OFFSET_left.put(step.pad_left) |
                  reg::WIDE_KERNEL_OFFSET_top.put(step.pad_top) |
                  reg::WIDE_KERNEL_OFFSET_width_delta.put(step.input_width - step.width) |
                  reg::WIDE_KERNEL_OFFSET_height_delta.put(
                      std::min(kMostDelta, step.input_height - first - stripe.rows)));
  } else {
    for (size_t f = 0; f < filters.size(); ++f) {
      const SubFilter& filter = filters[f];
      const int64_t rows = seen(step.input_height, filter.map_y, step.stride) - first - stripe.rows;
      const int64_t columns = seen(step.input_width, filter.map_x, step.stride) - step.width;
      const uint32_t pad =
          vector ? reg::IFM_PAD_width_delta.put(3) | reg::IFM_PAD_height_delta.put(7)
                 : reg::IFM_PAD_left.put(filter.pad_left) | reg::IFM_PAD_top.put(filter.pad_top) |
                       reg::IFM_PAD_width_delta.put(std::min(kMostDelta, columns)) |
                       reg::IFM_PAD_height_delta.put(std::min(kMostDelta, rows));
      for (int64_t ig = 0; ig < variant.igs; ++ig)
        words.set(
            word::Program_IFM_PAD + f * static_cast<size_t>(kOgsOfRow) + static_cast<size_t>(ig),
            pad);
    }
  }

  const auto slot_of = [&](int64_t index) {
    return reg::IFM_SLOTS_centre.put((index + plan.input_slots) % plan.input_slots) |
           reg::IFM_SLOTS_centre_residual.put(1) | reg::IFM_SLOTS_right_residual.put(1);
  };
  const bool above = plan.needs_neighbours && stripe.index > 0,
             below = has_below(layer, plan, stripe.index);
  words.set(word::Program_IFM_TOP_SLOTS, slot_of(stripe.index - (plan.needs_neighbours ? 1 : 0)))
      .set(word::Program_IFM_MID_SLOTS, slot_of(stripe.index))
      .set(word::Program_IFM_BOTTOM_SLOTS, slot_of(stripe.index + (plan.needs_neighbours ? 1 : 0)))
      .set(word::Program_IFM_SLOT_PAD_CONFIG,
           reg::IFM_SLOT_PAD_CONFIG_top.put(above ? 1 : 0) |
               reg::IFM_SLOT_PAD_CONFIG_bottom.put(below ? 1 : 0));

  const int64_t width = vector ? 8 : step.width, rows = vector ? 8 : stripe.rows;
  words.set(word::Program_OFM_STRIPE_SIZE,
            reg::OFM_STRIPE_SIZE_width.put(width) | reg::OFM_STRIPE_SIZE_height.put(rows));
  words.set(word::Program_OFM_CONFIG, reg::OFM_CONFIG_ofms.put(stripe.ofms));
  for (int64_t og = 0; og < variant.ogs; ++og)
    words.set(word::Program_WEIGHT_BASE_ADDR + static_cast<size_t>(og),
              reg::WEIGHT_BASE_ADDR_address.put(stripe.weights_at +
                                                og / variant.emcs * stripe.second_og_at));
  words.set(word::Program_blocks, static_cast<uint32_t>(ceil_div(width, kernel.block_width) *
                                                        ceil_div(rows, kernel.block_height) *
                                                        ceil_div(stripe.ofms, variant.ces)));
  return words;
}

CommandWords start_ple(const Layer& layer, uint32_t agent, uint32_t flags,
                       const std::array<int64_t, 2>& inputs_at, int64_t output_at, int64_t width,
                       int64_t height, int64_t depth) {
  const PleStep& step = *layer.ple;
  const auto half = [](int64_t value) {
    return static_cast<uint32_t>(static_cast<uint16_t>(value));
  };
  const auto pair = [&](int64_t low, int64_t high) { return half(low) | half(high) << 16; };
  const int64_t operation = !layer.mce || layer.mce->mode != MceMode::Depthwise ? 0 : 1;
  CommandWords words(CommandType::StartPleStripe);
  words.set(word::StartPle_agent, agent);
  std::array<uint32_t, 8> scratch = {};
  switch (step.operation) {
    case PleOperation::MULTIPLICATION:
      scratch = {pair(width, height),
                 half(depth),
                 half(step.zero_point),
                 pair(step.operands[0].multiplier, step.operands[0].shift),
                 pair(step.operands[0].zero_point, step.operands[1].zero_point),
                 static_cast<uint32_t>(inputs_at[0]),
                 static_cast<uint32_t>(inputs_at[1]),
                 static_cast<uint32_t>(output_at)};
      break;
    case PleOperation::MAXPOOL1D: {
      const FeatureMap& in = layer.inputs[0];
      const int64_t length = step.direction == PleDirection::X ? in.width : in.height;
      const int64_t values[] = {width,     height,           depth,         length, inputs_at[0],
                                output_at, step.pool_before, step.pool_size};
      for (size_t i = 0; i < scratch.size(); ++i) scratch[i] = static_cast<uint32_t>(values[i]);
      break;
    }
    default:
      scratch[0] = flags;
      for (size_t i = 0; i < 2; ++i) {
        scratch[1 + 2 * i] = pair(inputs_at[i] / kPatchBytes, step.operands[i].zero_point);
        scratch[2 + 2 * i] = pair(step.operands[i].multiplier, step.operands[i].shift);
      }
      scratch[5] = pair(output_at / kPatchBytes, step.zero_point);
      scratch[6] = pair(width, height);
      scratch[7] = pair(depth, operation);
  }
  for (size_t i = 0; i < scratch.size(); ++i) words.set(word::StartPle_SCRATCH + i, scratch[i]);
  return words;
}

}  // namespace intarsia::targets::ethos_n
