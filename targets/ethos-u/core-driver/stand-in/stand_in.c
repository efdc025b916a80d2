/* Looks at every argument as closely as Arm's driver and the hardware do, and at what neither can see: whether the
 * sizes of the regions are those that the stream needs. */
#include <stddef.h>

#include "ethosu_driver.h"
#include "intarsia/targets/ethos_u/core_driver/core_driver.h"

enum {
#define REGISTER(name, offset, access, reset) REG_##name = offset,
#define REGISTER_FIELD(...)
#define PMU_EVENT(...)
#include "intarsia/targets/ethos_u/registers.def"
#undef REGISTER
#undef REGISTER_FIELD
#undef PMU_EVENT
#define MAGIC(value) PAYLOAD_MAGIC = value,
#define ACTION(name, id, words) ACTION_##name = id,
#define ACTION_FIELD(...)
#include "intarsia/targets/ethos_u/actions.def"
#undef MAGIC
#undef ACTION
#undef ACTION_FIELD
#define CONSTANT(name, value) LIMIT_##name = value,
#include "intarsia/targets/ethos_u/constants.def"
#undef CONSTANT
  FAST_REGION = 2,
  REGION_BYTES = 0x1000, /* of the simulated device: how much answers from each base on, in words */
  CMD_RUN = 1,
  CMD_CLEAR_IRQ = 2,
  CMD_IDLE = 12, /* clock and power may go */
  STATUS_RUNNING = 1,
  STATUS_RESET = 8,
  STATUS_END = 32,
  STATUS_ERRORS = 0x194, /* bus, parser, weight decoder, ECC */
  PRIVILEGED = 1,
  PORTS_SHARED = 0x5553,   /* two bits a region, from 0: AXI limits 3, 0, 1, 1, .. */
  PORTS_DEDICATED = 0x555B /* the arena beside the constants: 3, 2, 1, 1, .. */
};

static struct ethosu_driver* drivers; /* in the order of their opening */

static uint32_t read_register(const struct ethosu_driver* driver, uint32_t offset) {
  return driver->bus.read(driver->bus.context, offset);
}

static void write_register(const struct ethosu_driver* driver, uint32_t offset, uint32_t value) {
  driver->bus.write(driver->bus.context, offset, value);
}

static void write_pair(const struct ethosu_driver* driver, uint32_t offset, uint64_t value) {
  write_register(driver, offset, (uint32_t)value);
  write_register(driver, offset + 4u, (uint32_t)(value >> 32));
}

static int reset(const struct ethosu_driver* driver) {
  uint32_t looks = 0;
  write_register(driver, REG_RESET, PRIVILEGED);
  while ((read_register(driver, REG_STATUS) & STATUS_RESET) != 0)
    if (++looks == 100000u) return -1;
  return 0;
}

static int refuse(struct ethosu_driver* driver, const char* why) {
  driver->complaint = why;
  return -1;
}

/* A stream within a payload. */
struct commands {
  const uint32_t* words;
  uint32_t count;
};

/* Why the payload is not one for this NPU; null when it is, with the stream in it. */
static const char* complaint_about(const struct ethosu_driver* driver, const uint32_t* words,
                                   uint32_t count, struct commands* stream) {
  const uint32_t config = read_register(driver, REG_CONFIG);
  const uint32_t id = read_register(driver, REG_ID);
  uint32_t at = 1, configs = 0, length;
  stream->words = NULL;
  stream->count = 0;
  if (count == 0 || words[0] != PAYLOAD_MAGIC) return "the payload does not begin with COP1";
  while (at < count) {
    switch (words[at] & 0xFFu) {
      case ACTION_OPTIMIZER_CONFIG:
        if (count - at < 3u) return "the payload ends within OPTIMIZER_CONFIG";
        if (words[at + 1] != config)
          return "the payload is for another configuration: its CONFIG is not this NPU's";
        if (words[at + 2] >> 28 != id >> 28 || (words[at + 2] >> 20 & 255u) > (id >> 20 & 255u))
          return "the payload is for another architecture";
        ++configs;
        at += 3;
        break;
      case ACTION_COMMAND_STREAM:
        if (configs != 1 || stream->words != NULL) return "the payload's actions are out of order";
        length = (words[at] >> 8 & 255u) << 16 | words[at] >> 16;
        if (length == 0 || length > count - at - 1u) return "the payload ends within its stream";
        stream->words = words + at + 1;
        stream->count = length;
        at += 1u + length;
        break;
      case ACTION_NOP:
        ++at;
        break;
      default:
        return "the payload has an action that Arm's driver does not know";
    }
  }
  if (stream->words == NULL) return "the payload has no stream";
  if ((uintptr_t)stream->words % LIMIT_StreamAlignment != 0)
    return "the stream does not begin at a multiple of 16 bytes";
  return NULL;
}

static const char* complaint_about_bases(const uint64_t* bases, const size_t* bytes, int count) {
  int i;
  if (bases == NULL || bytes == NULL) return "the bases or their sizes are null";
  if (count < 1 || count > LIMIT_Regions) return "the number of bases is not 1 to 8";
  for (i = 0; i < count; ++i) {
    if (bases[i] % LIMIT_StreamAlignment != 0) return "a base is not a multiple of 16";
    if (bytes[i] != 0 && bases[i] == 0) return "a base is null and its size is not";
  }
  return NULL;
}

static int start(struct ethosu_driver* driver, const struct commands* stream, const uint64_t* bases,
                 const size_t* bytes, int count) {
  uint32_t status, i;
  if (reset(driver) != 0) return refuse(driver, "the NPU does not come out of reset");
  write_register(driver, REG_QCONFIG, 2);
  write_register(driver, REG_REGIONCFG, driver->region_config);
  write_pair(driver, REG_QBASE_LO, (uint64_t)(uintptr_t)stream->words);
  write_register(driver, REG_QSIZE, 4u * stream->count);
  for (i = 0; i < (uint32_t)count; ++i) {
    /* Without a base nothing answers: a region of no bytes is not to be touched. */
    write_pair(driver, REG_BASEP0_LO + 8u * i, bytes[i] == 0 ? 0 : bases[i]);
    write_register(driver, REGION_BYTES + 4u * i, (uint32_t)bytes[i]);
  }
  write_register(driver, REG_CMD, CMD_RUN);
  do status = read_register(driver, REG_STATUS);
  while ((status & STATUS_RUNNING) != 0);
  write_register(driver, REG_CMD, CMD_CLEAR_IRQ | CMD_IDLE);
  if ((status & STATUS_ERRORS) == 0 && (status & STATUS_END) != 0) return 0;
  (void)reset(driver);
  return refuse(driver, "the NPU stopped with an error");
}

void ethosu_get_hw_info(struct ethosu_driver* driver, struct ethosu_hw_info* info) {
  const uint32_t id = read_register(driver, REG_ID), config = read_register(driver, REG_CONFIG);
  info->version.version_status = id & 15u;
  info->version.version_minor = id >> 4 & 15u;
  info->version.version_major = id >> 8 & 15u;
  info->version.product_major = id >> 12 & 15u;
  info->version.arch_patch_rev = id >> 16 & 15u;
  info->version.arch_minor_rev = id >> 20 & 255u;
  info->version.arch_major_rev = id >> 28;
  info->cfg.macs_per_cc = config & 15u;
  info->cfg.cmd_stream_version = config >> 4 & 15u;
  info->cfg.custom_dma = config >> 27 & 1u;
}

int ethosu_invoke_v3(struct ethosu_driver* driver, const void* custom_data_ptr,
                     int custom_data_size, uint64_t* base_addr, const size_t* base_addr_size,
                     int num_base_addr, void* user_arg) {
  struct commands stream;
  const char* complaint;
  (void)user_arg;
  if (driver == NULL) return -1;
  driver->complaint = NULL;
  ++driver->calls;
  if (!driver->reserved) return refuse(driver, "the NPU is not reserved");
  if (custom_data_ptr == NULL || custom_data_size <= 0 || custom_data_size % 4 != 0)
    return refuse(driver, "the payload is null, or its size no multiple of 4");
  if ((uintptr_t)custom_data_ptr % LIMIT_StreamAlignment != 0)
    return refuse(driver, "the payload does not lie at a multiple of 16 bytes");
  complaint = complaint_about(driver, custom_data_ptr, (uint32_t)custom_data_size / 4u, &stream);
  if (complaint == NULL)
    complaint = complaint_about_bases(base_addr, base_addr_size, num_base_addr);
  if (complaint != NULL) return refuse(driver, complaint);
  if (driver->fast_memory != 0 && num_base_addr > FAST_REGION) {
    if (base_addr_size[FAST_REGION] > driver->fast_memory_size)
      return refuse(driver, "the fast memory is too small");
    base_addr[FAST_REGION] = driver->fast_memory;
  }
  if (driver->calls_until_fault == 0)
    return refuse(driver, "the NPU stopped with an error, as it was asked to");
  if (driver->calls_until_fault > 0) --driver->calls_until_fault;
  return start(driver, &stream, base_addr, base_addr_size, num_base_addr);
}

struct ethosu_driver* ethosu_reserve_driver(void) {
  struct ethosu_driver* driver = drivers;
  while (driver != NULL && driver->reserved) driver = driver->next;
  if (driver == NULL) return NULL;
  driver->reserved = 1;
  ++driver->reservations;
  return driver;
}

void ethosu_release_driver(struct ethosu_driver* driver) {
  if (driver == NULL || !driver->reserved) return;
  driver->reserved = 0;
  ++driver->releases;
}

int intarsia_ethos_u_stand_in_open(struct ethosu_driver* driver,
                                   const struct intarsia_register_bus* bus) {
  struct ethosu_driver** last = &drivers;
  driver->bus = *bus;
  driver->fast_memory = 0;
  driver->fast_memory_size = 0;
  driver->reserved = 0;
  driver->next = NULL;
  driver->complaint = NULL;
  driver->calls_until_fault = -1;
  driver->calls = driver->reservations = driver->releases = 0;
  driver->region_config =
      read_register(driver, REG_CONFIG) >> 28 == 0 ? PORTS_SHARED : PORTS_DEDICATED;
  if (reset(driver) != 0) return -1;
  while (*last != NULL && *last != driver) last = &(*last)->next;
  *last = driver;
  return 0;
}

void intarsia_ethos_u_stand_in_close(void) {
  drivers = NULL;
}

/* The first NPU is reserved for each run, as a program with one NPU does; further ones are named. */
static intarsia_status open_with(struct intarsia_ethos_u_core_driver* npu,
                                 const struct intarsia_register_bus* bus, uint32_t region_config) {
  static struct ethosu_driver opened[4];
  static uint32_t count;
  const intarsia_status status = intarsia_ethos_u_core_driver_open(npu, NULL);
  struct ethosu_driver* driver;
  if (status != INTARSIA_OK) return status;
  if (bus == NULL || bus->read == NULL || bus->write == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  if (count == sizeof opened / sizeof opened[0]) return INTARSIA_ERROR_DEVICE_ABSENT;
  driver = &opened[count];
  if (intarsia_ethos_u_stand_in_open(driver, bus) != 0) return INTARSIA_ERROR_DEVICE_ABSENT;
  driver->region_config = region_config;
  if (count++ > 0) {
    driver->reserved = 1;
    npu->driver = driver;
  }
  return INTARSIA_OK;
}

intarsia_status intarsia_ethos_u_core_driver_open_bus_shared(
    struct intarsia_ethos_u_core_driver* npu, const struct intarsia_register_bus* bus) {
  return open_with(npu, bus, PORTS_SHARED);
}

intarsia_status intarsia_ethos_u_core_driver_open_bus_dedicated(
    struct intarsia_ethos_u_core_driver* npu, const struct intarsia_register_bus* bus) {
  return open_with(npu, bus, PORTS_DEDICATED);
}
