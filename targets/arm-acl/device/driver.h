/* Runs streams of the `arm_acl` kind with the Arm Compute Library on a 64-bit Arm's processors. For programs under Linux: it
 * needs the library (libarm_compute), whose headers must be there when this is compiled. */
#ifndef INTARSIA_ARM_ACL_DRIVER_H
#define INTARSIA_ARM_ACL_DRIVER_H

#include "intarsia/contract/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { INTARSIA_ARM_ACL_MAX_PROGRAMS = 64 };

/* A stream's functions, configured and with weights prepared at its first run. */
struct intarsia_arm_acl_program {
  const uint8_t *commands;
  void *layers;
};

/* One device, for one thread at a time. Its members are the driver's. */
struct intarsia_arm_acl {
  struct intarsia_device device;
  uint32_t program_count;
  struct intarsia_arm_acl_program programs[INTARSIA_ARM_ACL_MAX_PROGRAMS];
};

/* INTARSIA_ERROR_DEVICE_ABSENT where this was compiled for another processor. `registers` is not used. */
intarsia_status intarsia_arm_acl_open(struct intarsia_arm_acl *acl, void *registers);
void intarsia_arm_acl_close(struct intarsia_arm_acl *acl);

#ifdef __cplusplus
}
#endif

#endif
