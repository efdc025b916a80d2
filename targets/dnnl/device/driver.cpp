#include "intarsia/targets/dnnl/driver.h"

#include "intarsia/targets/dnnl/prepared_layers.h"

#ifdef INTARSIA_HAS_DNNL

#include <stdio.h>

namespace intarsia::targets::dnnl {
namespace {

constexpr uint32_t kLibrary = 0x6C6E6E64;  // "dnnl"

intarsia_status failed(const Refusal &refusal) {
  (void)fprintf(stderr, "intarsia: dnnl: layer %u: %s: oneDNN says %s\n",
                static_cast<unsigned>(refusal.layer), refusal.what,
                dnnl_status2str(refusal.status));
  return refusal.status == dnnl_out_of_memory ? INTARSIA_ERROR_DEVICE_MEMORY
                                              : INTARSIA_ERROR_DEVICE_FAULT;
}

// The stream's layers, which its first run prepares.
intarsia_status find_layers(intarsia_dnnl &dnnl, const intarsia_stream &stream,
                            const rt::LayerStream &layers, void *const *bases,
                            PreparedLayers *&found) {
  for (uint32_t i = 0; i < dnnl.program_count; ++i)
    if (dnnl.programs[i].commands == stream.commands)
      found = static_cast<PreparedLayers *>(dnnl.programs[i].layers);
  if (found != nullptr) return INTARSIA_OK;
  if (dnnl.program_count == INTARSIA_DNNL_MAX_PROGRAMS) return INTARSIA_ERROR_DEVICE_MEMORY;
  Refusal refusal;
  found = prepare(layers, static_cast<dnnl_engine_t>(dnnl.engine),
                  static_cast<dnnl_stream_t>(dnnl.stream), bases, refusal);
  if (found == nullptr) return failed(refusal);
  dnnl.programs[dnnl.program_count++] = {stream.commands, found};
  return INTARSIA_OK;
}

intarsia_status run(intarsia_device *device, const intarsia_stream *stream, void *const *bases,
                    uint32_t base_count) {
  // `device` is the first member of the driver's state.
  auto &dnnl = *reinterpret_cast<intarsia_dnnl *>(device);
  rt::LayerStream layers;
  if (!layers.open(*stream, kLibrary, base_count)) return INTARSIA_ERROR_DEVICE_MISMATCH;
  PreparedLayers *prepared = nullptr;
  const intarsia_status status = find_layers(dnnl, *stream, layers, bases, prepared);
  if (status != INTARSIA_OK) return status;
  Refusal refusal{.what = "its execution"};
  refusal.status =
      execute(*prepared, static_cast<dnnl_stream_t>(dnnl.stream), bases, refusal.layer);
  return refusal.status == dnnl_success ? INTARSIA_OK : failed(refusal);
}

}  // namespace
}  // namespace intarsia::targets::dnnl

using namespace intarsia::targets::dnnl;

intarsia_status intarsia_dnnl_open(intarsia_dnnl *dnnl, void *) {
  if (dnnl == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  *dnnl = {};
  dnnl->device.run = run;
  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;
  dnnl_status_t status = dnnl_engine_create(&engine, dnnl_cpu, 0);
  if (status == dnnl_success)
    status = dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
  dnnl->engine = engine;
  dnnl->stream = stream;
  if (status == dnnl_success) return INTARSIA_OK;
  (void)fprintf(stderr, "intarsia: dnnl: oneDNN gives no engine for this processor: %s\n",
                dnnl_status2str(status));
  intarsia_dnnl_close(dnnl);
  return INTARSIA_ERROR_DEVICE_ABSENT;
}

void intarsia_dnnl_close(intarsia_dnnl *dnnl) {
  for (uint32_t i = 0; i < dnnl->program_count; ++i)
    destroy(static_cast<PreparedLayers *>(dnnl->programs[i].layers));
  if (dnnl->stream != nullptr) (void)dnnl_stream_destroy(static_cast<dnnl_stream_t>(dnnl->stream));
  if (dnnl->engine != nullptr) (void)dnnl_engine_destroy(static_cast<dnnl_engine_t>(dnnl->engine));
  *dnnl = {};
}

#else

intarsia_status intarsia_dnnl_open(struct intarsia_dnnl *dnnl, void *) {
  if (dnnl == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  *dnnl = {};
  return INTARSIA_ERROR_DEVICE_ABSENT;
}

void intarsia_dnnl_close(struct intarsia_dnnl *) {}

#endif
