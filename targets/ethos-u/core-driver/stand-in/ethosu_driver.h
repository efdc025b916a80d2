/* The public interface of Arm's Ethos-U core driver, as far as packages call it, over a simulated NPU: for
 * programs that the compiler builds and runs itself, and for tests. Programs for silicon have Arm's file of this
 * name instead, and Arm's driver behind it. */
#ifndef intarsia_ethos_u_stand_in_h
#define intarsia_ethos_u_stand_in_h

#include <stddef.h>
#include <stdint.h>

#include "intarsia/contract/register_bus.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ethosu_driver {
  struct intarsia_register_bus bus;
  uint64_t fast_memory; /* as ethosu_init() of Arm's driver is told */
  size_t fast_memory_size;
  uint32_t
      region_config; /* NPU_REGIONCFG_0 to _7 of Arm's driver, two bits each; as it has them by default */
  uint8_t reserved;
  struct ethosu_driver* next;
  /* Of the last call that was refused, why; null after one that was not. */
  const char* complaint;
  /* For tests: how many more calls are carried out before one fails as if the NPU had. Negative: all. */
  int32_t calls_until_fault;
  uint32_t calls, reservations, releases;
};

struct ethosu_id {
  uint32_t version_status, version_minor, version_major, product_major;
  uint32_t arch_patch_rev, arch_minor_rev, arch_major_rev;
};
struct ethosu_config {
  uint32_t macs_per_cc, cmd_stream_version, custom_dma;
};
struct ethosu_hw_info {
  struct ethosu_id version;
  struct ethosu_config cfg;
};

void ethosu_get_hw_info(struct ethosu_driver* driver, struct ethosu_hw_info* info);
int ethosu_invoke_v3(struct ethosu_driver* driver, const void* custom_data_ptr,
                     int custom_data_size, uint64_t* base_addr, const size_t* base_addr_size,
                     int num_base_addr, void* user_arg);
struct ethosu_driver* ethosu_reserve_driver(void);
void ethosu_release_driver(struct ethosu_driver* driver);

/* What the stand-in has instead of ethosu_init(): an NPU behind a bus. 0, or -1 when none answers. */
int intarsia_ethos_u_stand_in_open(struct ethosu_driver* driver,
                                   const struct intarsia_register_bus* bus);
/* Forgets all NPUs. */
void intarsia_ethos_u_stand_in_close(void);

#ifdef __cplusplus
}
#endif

#endif
