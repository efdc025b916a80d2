/* A network in a task of an RTOS: while the NPU works, its task is blocked and others run; the NPU's interrupt wakes it. */
#include <FreeRTOS.h>

#include <semphr.h>
#include <task.h>

#include "../streaming-denoiser/denoise.h"
#include "../streaming-denoiser/recording.h"
#include "npu.h"
#include "semihosting.h"

enum { AUDIO_WORDS = 2048, OTHER_WORDS = 256, FRAME_MS = 8, PATIENCE_MS = 100 };

DENOISER_DEFINE_RESOURCES(resources);
static struct denoiser network;
static struct noise_filter filter;
static struct intarsia_ethos_u* npu;

static StaticSemaphore_t npu_done_memory;
static SemaphoreHandle_t npu_done;
static StaticTask_t audio_task;
static StaticTask_t other_task;
static StackType_t audio_stack[AUDIO_WORDS] __attribute__((aligned(8)));
static StackType_t other_stack[OTHER_WORDS] __attribute__((aligned(8)));

static volatile uint32_t npu_at_work;
static volatile uint32_t frames_with_other_work; /* done while the NPU was at work */
static volatile uint32_t work_of_others;
static uint32_t timeouts;

/* The driver calls it while the NPU is not done. */
static void block_until_done(struct intarsia_ethos_u* it, void* context) {
  (void)it;
  const uint32_t before = work_of_others;
  npu_at_work = 1;
  if (xSemaphoreTake((SemaphoreHandle_t)context, pdMS_TO_TICKS(PATIENCE_MS)) != pdTRUE) ++timeouts;
  npu_at_work = 0;
  if (work_of_others != before) ++frames_with_other_work;
}

void interrupt_of_device(int32_t number) {
  BaseType_t woken = pdFALSE;
  if (number != NPU_INTERRUPT) stop("interrupt", number);
  intarsia_ethos_u_interrupt(npu);
  xSemaphoreGiveFromISR(npu_done, &woken);
  portYIELD_FROM_ISR(woken);
}

#ifdef NPU_BESIDE_EMULATOR
/* The simulated NPU has registers and no wire: the tick looks at the bit that would be on the wire. */
void vApplicationTickHook(void) {
  if (npu_at_work && npu_interrupt_line()) npu_raise_interrupt();
}
/* Its registers are reached through a mailbox, which the tick must not find in use. */
void npu_bus_begin(void) {
  taskENTER_CRITICAL();
}
void npu_bus_end(void) {
  taskEXIT_CRITICAL();
}
#else
void vApplicationTickHook(void) {}
#endif

/* A frame every 8 ms, as a microphone would give them. */
static void audio(void* parameter) {
  int16_t frame[NOISE_FILTER_HOP];
  int16_t out[NOISE_FILTER_HOP];
  TickType_t due = xTaskGetTickCount();
  (void)parameter;
  while (recording_next(frame)) {
    (void)xTaskDelayUntil(&due, pdMS_TO_TICKS(FRAME_MS));
    const intarsia_status status = denoise(&network, &filter, frame, out);
    if (status != INTARSIA_OK) stop("run", (int32_t)status);
    recording_compare(out);
  }
  print_number(recording_frames());
  print(" frames\n");
  recording_report();
  print_number((int32_t)npu->interrupts);
  print(" interrupts of the NPU, ");
  print_number((int32_t)timeouts);
  print(" waits in vain; another task worked during ");
  print_number((int32_t)frames_with_other_work);
  print(" of them\n");
  host_exit(0);
}

/* Whatever else the firmware has to do. */
static void other(void* parameter) {
  (void)parameter;
  for (;;)
    if (npu_at_work) work_of_others = work_of_others + 1;
}

int main(void) {
  npu = npu_open();
  if (npu == 0) stop("opening the NPU", INTARSIA_ERROR_DEVICE_ABSENT);
  npu_done = xSemaphoreCreateBinaryStatic(&npu_done_memory);
  npu->wait = block_until_done;
  npu->wait_context = npu_done;
  npu->poll_limit = 10; /* waits of PATIENCE_MS: a second, and then the run is given up */
  npu_enable_interrupt();
  resources.device0 = &npu->device;
  const intarsia_status status = denoiser_init(&network, &resources);
  if (status != INTARSIA_OK) stop("init", (int32_t)status);
  noise_filter_start(&filter, DENOISER_INPUT0_SCALE, DENOISER_INPUT0_ZERO_POINT);
  recording_open("../streaming-denoiser/");
  xTaskCreateStatic(audio, "audio", AUDIO_WORDS, 0, 3, audio_stack, &audio_task);
  xTaskCreateStatic(other, "other", OTHER_WORDS, 0, 1, other_stack, &other_task);
  vTaskStartScheduler();
  return 1;
}
