#include "intarsia/targets/dnnl/prepared_layers.h"

#ifdef INTARSIA_HAS_DNNL

#include <stdlib.h>

namespace intarsia::targets::dnnl {
namespace {

constexpr size_t kScratchAlignment = 64;

// An operand that is bound to its place at each run.
struct BoundOperand {
  dnnl_memory_t memory;
  rt::LayerPlace place;
};

// Source, weights, bias, addend, result, a zero point and scratch memory.
constexpr int kMaxArguments = 7;

struct PreparedLayer {
  dnnl_primitive_t primitive;
  dnnl_exec_arg_t arguments[kMaxArguments];
  BoundOperand bound[kMaxArguments];
  int argument_count, bound_count;
};

void add_argument(PreparedLayer &layer, int argument, dnnl_memory_t memory) {
  layer.arguments[layer.argument_count++] = {argument, memory};
}

const dnnl_memory_desc_t *scratch_of(const PreparedLayer &layer) {
  const_dnnl_primitive_desc_t description = nullptr;
  (void)dnnl_primitive_get_primitive_desc(layer.primitive, &description);
  return dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
}

// Makes the primitive of one layer, and its weights in the form that it wants.
class LayerPreparation {
 public:
  LayerPreparation(dnnl_engine_t engine, dnnl_stream_t queue, void *const *bases,
                   PreparedLayer &layer)
      : engine_(engine), queue_(queue), bases_(bases), layer_(layer) {}
  ~LayerPreparation() {
    if (description_ != nullptr) (void)dnnl_primitive_desc_destroy(description_);
  }
  LayerPreparation(const LayerPreparation &) = delete;
  LayerPreparation &operator=(const LayerPreparation &) = delete;

  void run(const rt::Layer &from, Refusal &refusal) {
    dnnl_status_t &status = refusal.status;
    if (multiplies_int8(from) && weight_scales(from) == nullptr) {
      refusal.what = "the weights' scales";
      status = dnnl_invalid_arguments;
      return;
    }
    refusal.what = "the primitive's description";
    status = describe(engine_, from, weight_scales(from), memory_, description_);
    if (status != dnnl_success) return;
    refusal.what = "the primitive";
    status = dnnl_primitive_create(&layer_.primitive, description_);
    refusal.what = "an operand";
    bind(from.source, memory_.source, DNNL_ARG_SRC, status);  // SRC_0 of two
    if (subtracts_zero_point_first(from)) hold_zero_point(from, status);
    if (is_int8_function(from)) bind(from.source, memory_.source, DNNL_ARG_SRC_1, status);
    bind(from.result, memory_.result, DNNL_ARG_DST, status);
    bind(from.bias, memory_.bias, DNNL_ARG_BIAS, status);
    bind(from.addend, memory_.addend, addend_argument(from), status);
    if (status == dnnl_success && is_weighted(from)) status = prepare_weights(from.weights);
  }

 private:
  const float *weight_scales(const rt::Layer &from) const {
    const size_t bytes = static_cast<size_t>(from.weight_scales) * sizeof(float);
    if (!from.scales.is_there() || from.weight_scales <= 0 || from.scales.bytes < bytes ||
        from.scales.offset % sizeof(float) != 0)
      return nullptr;
    return reinterpret_cast<const float *>(
        static_cast<const uint8_t *>(bases_[from.scales.region]) + from.scales.offset);
  }

  void bind(const rt::LayerPlace &place, const dnnl_memory_desc_t &desc, int argument,
            dnnl_status_t &status) {
    if (status != dnnl_success || !place.is_there()) return;
    if (dnnl_memory_desc_get_size(&desc) > place.bytes) {
      status = dnnl_invalid_arguments;
      return;
    }
    dnnl_memory_t memory = nullptr;
    status = dnnl_memory_create(&memory, &desc, engine_, DNNL_MEMORY_NONE);
    if (status != dnnl_success) return;
    add_argument(layer_, argument, memory);
    layer_.bound[layer_.bound_count++] = {memory, place};
  }

  void hold_zero_point(const rt::Layer &from, dnnl_status_t &status) {
    dnnl_memory_t memory = nullptr;
    void *at = nullptr;
    if (status == dnnl_success)
      status = dnnl_memory_create(&memory, &memory_.zero_point, engine_, DNNL_MEMORY_ALLOCATE);
    if (status != dnnl_success) return;
    add_argument(layer_, DNNL_ARG_SRC_1, memory);
    status = dnnl_memory_get_data_handle(memory, &at);
    if (status == dnnl_success)
      *static_cast<int8_t *>(at) = static_cast<int8_t>(from.source_zero_point);
  }

  // Weights that are already as the primitive wants them stay where they are.
  dnnl_status_t prepare_weights(const rt::LayerPlace &place) {
    const dnnl_memory_desc_t *wanted =
        dnnl_primitive_desc_query_md(description_, dnnl_query_weights_md, 0);
    dnnl_status_t status = dnnl_success;
    if (!place.is_there() || dnnl_memory_desc_get_size(&memory_.weights) > place.bytes)
      return dnnl_invalid_arguments;
    if (dnnl_memory_desc_equal(wanted, &memory_.weights) != 0) {
      bind(place, memory_.weights, DNNL_ARG_WEIGHTS, status);
      return status;
    }
    dnnl_memory_t ours = nullptr, made = nullptr;
    status = dnnl_memory_create(&ours, &memory_.weights, engine_,
                                static_cast<uint8_t *>(bases_[place.region]) + place.offset);
    if (status == dnnl_success)
      status = dnnl_memory_create(&made, wanted, engine_, DNNL_MEMORY_ALLOCATE);
    if (status == dnnl_success) {
      add_argument(layer_, DNNL_ARG_WEIGHTS, made);
      status = reorder(ours, *wanted, made);
    }
    if (ours != nullptr) (void)dnnl_memory_destroy(ours);
    return status;
  }

  dnnl_status_t reorder(dnnl_memory_t from, const dnnl_memory_desc_t &wanted, dnnl_memory_t to) {
    dnnl_primitive_desc_t description = nullptr;
    dnnl_primitive_t primitive = nullptr;
    dnnl_status_t status = dnnl_reorder_primitive_desc_create(&description, &memory_.weights,
                                                              engine_, &wanted, engine_, nullptr);
    if (status == dnnl_success) status = dnnl_primitive_create(&primitive, description);
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    if (status == dnnl_success) status = dnnl_primitive_execute(primitive, queue_, 2, arguments);
    if (status == dnnl_success) status = dnnl_stream_wait(queue_);
    if (primitive != nullptr) (void)dnnl_primitive_destroy(primitive);
    if (description != nullptr) (void)dnnl_primitive_desc_destroy(description);
    return status;
  }

  dnnl_engine_t engine_;
  dnnl_stream_t queue_;
  void *const *bases_;
  PreparedLayer &layer_;
  LayerMemory memory_;
  dnnl_primitive_desc_t description_ = nullptr;
};

}  // namespace

struct PreparedLayers {
  PreparedLayer *layers;
  uint32_t count;
  void *scratch;
};

namespace {

// One block for all layers: as many bytes as the one with most of it wants on this processor, which only oneDNN knows.
dnnl_status_t share_scratch(PreparedLayers &prepared, dnnl_engine_t engine) {
  size_t bytes = kScratchAlignment;
  for (uint32_t i = 0; i < prepared.count; ++i) {
    const size_t wanted = dnnl_memory_desc_get_size(scratch_of(prepared.layers[i]));
    if (wanted > bytes) bytes = wanted;
  }
  bytes = (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
  prepared.scratch = aligned_alloc(kScratchAlignment, bytes);
  if (prepared.scratch == nullptr) return dnnl_out_of_memory;
  for (uint32_t i = 0; i < prepared.count; ++i) {
    dnnl_memory_t memory = nullptr;
    const dnnl_status_t status =
        dnnl_memory_create(&memory, scratch_of(prepared.layers[i]), engine, prepared.scratch);
    if (status != dnnl_success) return status;
    add_argument(prepared.layers[i], DNNL_ARG_SCRATCHPAD, memory);
  }
  return dnnl_success;
}

}  // namespace

PreparedLayers *prepare(const rt::LayerStream &stream, dnnl_engine_t engine, dnnl_stream_t queue,
                        void *const *bases, Refusal &refusal) {
  auto *made = static_cast<PreparedLayers *>(calloc(1, sizeof(PreparedLayers)));
  if (made == nullptr) return nullptr;
  made->layers = static_cast<PreparedLayer *>(calloc(stream.layers() + 1, sizeof(PreparedLayer)));
  made->count = made->layers == nullptr ? 0 : stream.layers();
  refusal.status = made->layers == nullptr ? dnnl_out_of_memory : dnnl_success;
  for (uint32_t i = 0; i < made->count && refusal.status == dnnl_success; ++i) {
    refusal.layer = i;
    LayerPreparation(engine, queue, bases, made->layers[i]).run(stream.layer(i), refusal);
  }
  if (refusal.status == dnnl_success) {
    refusal.what = "scratch memory";
    refusal.status = share_scratch(*made, engine);
  }
  if (refusal.status == dnnl_success) return made;
  destroy(made);
  return nullptr;
}

dnnl_status_t execute(PreparedLayers &prepared, dnnl_stream_t queue, void *const *bases,
                      uint32_t &layer) {
  for (layer = 0; layer < prepared.count; ++layer) {
    PreparedLayer &now = prepared.layers[layer];
    dnnl_status_t status = dnnl_success;
    for (int b = 0; b < now.bound_count && status == dnnl_success; ++b) {
      auto *base = static_cast<uint8_t *>(bases[now.bound[b].place.region]);
      status = dnnl_memory_set_data_handle(now.bound[b].memory, base + now.bound[b].place.offset);
    }
    if (status == dnnl_success)
      status = dnnl_primitive_execute(now.primitive, queue, now.argument_count, now.arguments);
    if (status != dnnl_success) return status;
  }
  return dnnl_stream_wait(queue);
}

void destroy(PreparedLayers *prepared) {
  if (prepared == nullptr) return;
  for (uint32_t i = 0; i < prepared->count; ++i) {
    PreparedLayer &layer = prepared->layers[i];
    if (layer.primitive != nullptr) (void)dnnl_primitive_destroy(layer.primitive);
    for (int a = 0; a < layer.argument_count; ++a)
      (void)dnnl_memory_destroy(layer.arguments[a].memory);
  }
  free(prepared->scratch);
  free(prepared->layers);
  free(prepared);
}

}  // namespace intarsia::targets::dnnl
#endif
