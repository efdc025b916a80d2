#include "intarsia/targets/ethos_u/core_driver/core_driver.h"

#include <stddef.h>

#include <ethosu_driver.h>

enum {
  REGIONS = 8,     /* base pointers that the NPU has */
  ALIGNMENT = 16,  /* of the payload and of every base */
  FAST_REGION = 2, /* the one that the driver puts into its fast memory, where it has some */
  HEAD_WORDS = 4,  /* a payload's own name, and the first action with its two words */
  OPTIMIZER_CONFIG = 1
};

static uint32_t word_at(const uint8_t* payload, uint32_t index) {
  const uint8_t* bytes = payload + 4u * (size_t)index;
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
         (uint32_t)bytes[3] << 24;
}

/* Whether the payload was made for this NPU. The driver compares the same and more, and returns one error for
 * everything: this is what tells the wrong NPU from one that failed. The payload begins with whom it is for. */
static int fits(const struct intarsia_stream* stream, struct ethosu_driver* driver) {
  struct ethosu_hw_info hardware;
  uint32_t config, architecture, product;
  if (stream->commands == NULL || stream->command_bytes < 4u * HEAD_WORDS ||
      (word_at(stream->commands, 1) & 0xFFu) != OPTIMIZER_CONFIG)
    return 0;
  config = word_at(stream->commands, 2);
  architecture = word_at(stream->commands, 3);
  ethosu_get_hw_info(driver, &hardware);
  product = config >> 28 == 0 ? 4u : 6u; /* in register ID: an Ethos-U55, an Ethos-U65 */
  return hardware.version.product_major == product && hardware.cfg.macs_per_cc == (config & 0xFu) &&
         hardware.cfg.cmd_stream_version == (config >> 4 & 0xFu) &&
         hardware.version.arch_major_rev == architecture >> 28 &&
         hardware.version.arch_minor_rev >= (architecture >> 20 & 0xFFu);
}

static intarsia_status invoke(struct intarsia_ethos_u_core_driver* npu,
                              struct ethosu_driver* driver, const struct intarsia_stream* stream,
                              uint64_t* bases, const size_t* bytes, uint32_t count) {
  if (!fits(stream, driver)) return INTARSIA_ERROR_DEVICE_MISMATCH;
  /* The driver would move this region to its own block of fast memory, where nobody else looks for what the model
   * keeps in it. */
  if (count > FAST_REGION && bytes[FAST_REGION] != 0 && driver->fast_memory != 0 &&
      driver->fast_memory != bases[FAST_REGION])
    return INTARSIA_ERROR_DEVICE_MEMORY;
  npu->result = ethosu_invoke_v3(driver, stream->commands, (int)stream->command_bytes, bases, bytes,
                                 (int)count, npu->user_arg);
  return npu->result == 0 ? INTARSIA_OK : INTARSIA_ERROR_DEVICE_FAULT;
}

static intarsia_status run(struct intarsia_device* device, const struct intarsia_stream* stream,
                           void* const* bases, uint32_t base_count) {
  /* `device` is the first member of the state. */
  struct intarsia_ethos_u_core_driver* npu = (struct intarsia_ethos_u_core_driver*)device;
  struct ethosu_driver* driver = npu->driver;
  uint64_t base_addr[REGIONS] = {0};
  size_t base_addr_size[REGIONS] = {0};
  intarsia_status status;
  uint32_t i, other;

  if (base_count > REGIONS) return INTARSIA_ERROR_DEVICE_MISMATCH;
  if (stream->regions == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  if ((uintptr_t)stream->commands % ALIGNMENT != 0) return INTARSIA_ERROR_DEVICE_MEMORY;
  for (i = 0; i < base_count; ++i) {
    if ((uintptr_t)bases[i] % ALIGNMENT != 0) return INTARSIA_ERROR_DEVICE_MEMORY;
    base_addr[i] = (uint64_t)(uintptr_t)bases[i];
    base_addr_size[i] = bases[i] == NULL ? 0 : stream->regions[i].needed;
    /* A base for the second time keeps the place of a region that the stream does not use. */
    for (other = 0; other < i; ++other)
      if (bases[other] == bases[i]) base_addr_size[i] = 0;
  }
  if (driver == NULL) driver = ethosu_reserve_driver();
  if (driver == NULL) return INTARSIA_ERROR_DEVICE_ABSENT;
  status = invoke(npu, driver, stream, base_addr, base_addr_size, base_count);
  if (npu->driver == NULL) ethosu_release_driver(driver);
  return status;
}

intarsia_status intarsia_ethos_u_core_driver_open(struct intarsia_ethos_u_core_driver* npu,
                                                  void* registers) {
  (void)registers;
  if (npu == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  npu->device.run = run;
  npu->driver = NULL;
  npu->user_arg = NULL;
  npu->result = 0;
  return INTARSIA_OK;
}
