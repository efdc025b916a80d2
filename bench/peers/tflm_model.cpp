// A model as firmware with TFLite Micro, behind the functions that the boards' generic main calls. TFLM_MODEL_FILE: the
// .tflite; TFLM_ARENA_BYTES: what its tensors may take.
#include <new>

#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/schema/schema_generated.h"

__asm__(
    ".section .rodata.tflm_model_file\n"
    ".balign 16\n"
    ".global tflm_model_file\n"
    "tflm_model_file:\n"
    ".incbin \"" TFLM_MODEL_FILE
    "\"\n"
    ".text\n");
extern "C" const unsigned char tflm_model_file[];

// Called by the destructors of classes with virtual functions; nothing of them is ever deleted.
void operator delete(void*) noexcept {}
void operator delete(void*, unsigned int) noexcept {}

namespace {

using Resolver = tflite::MicroMutableOpResolver<64>;

alignas(16) unsigned char arena[TFLM_ARENA_BYTES];
alignas(Resolver) unsigned char resolver_place[sizeof(Resolver)];
alignas(tflite::MicroInterpreter) unsigned char interpreter_place[sizeof(tflite::MicroInterpreter)];
tflite::MicroInterpreter* interpreter;

}  // namespace

extern "C" int tflm_peer_init() {
  Resolver* resolver = new (resolver_place) Resolver;
#define OPERATOR(name) resolver->Add##name();
  TFLM_OPERATORS
#undef OPERATOR
  interpreter = new (interpreter_place)
      tflite::MicroInterpreter(tflite::GetModel(tflm_model_file), *resolver, arena, sizeof arena);
  return interpreter->AllocateTensors() == kTfLiteOk ? 0 : 1;
}
extern "C" void* tflm_peer_input(int index) {
  return interpreter->input(index)->data.raw;
}
extern "C" const void* tflm_peer_output(int index) {
  return interpreter->output(index)->data.raw;
}
extern "C" int tflm_peer_run() {
  return interpreter->Invoke() == kTfLiteOk ? 0 : 1;
}
