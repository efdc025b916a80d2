/* What docs/ethos-u-driver.md uses of Zephyr's kernel, so that its example is compiled without Zephyr. */
#ifndef ZEPHYR_KERNEL_H
#define ZEPHYR_KERNEL_H

#include <stddef.h>
#include <stdint.h>

struct k_sem {
  uint32_t count;
};
struct k_mutex {
  uint32_t owner;
};
typedef struct {
  int64_t ticks;
} k_timeout_t;

#define K_MSEC(ms) ((k_timeout_t){(int64_t)(ms)})
#define K_SEM_DEFINE(name, initial, limit) struct k_sem name = {initial}
#define K_MUTEX_DEFINE(name) struct k_mutex name = {0}
#define IRQ_CONNECT(number, priority, handler, argument, flags) \
  arch_irq_connect(number, priority, handler, argument, flags)

int k_sem_take(struct k_sem* semaphore, k_timeout_t timeout);
void k_sem_give(struct k_sem* semaphore);
int k_mutex_lock(struct k_mutex* mutex, k_timeout_t timeout);
int k_mutex_unlock(struct k_mutex* mutex);
int arch_irq_connect(unsigned int number, unsigned int priority, void (*handler)(const void*),
                     const void* argument, uint32_t flags);
void irq_enable(unsigned int number);

#endif
