// A model as firmware with TFLite Micro, behind the functions that the boards' generic main calls. TFLM_MODEL_FILE: the
// .tflite; TFLM_ARENA_BYTES: what its tensors may take.
#include <new>

#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/schema/schema_generated.h"

struct tflm_model;
struct tflm_model_resources;

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

// The functions of a package (docs/package.md); this one has no instance and needs no memory of the application.
extern "C" int32_t tflm_model_init(tflm_model*, const tflm_model_resources*) {
  Resolver* resolver = new (resolver_place) Resolver;
#define OPERATOR(name) resolver->Add##name();
  TFLM_OPERATORS
#undef OPERATOR
  interpreter = new (interpreter_place)
      tflite::MicroInterpreter(tflite::GetModel(tflm_model_file), *resolver, arena, sizeof arena);
  return interpreter->AllocateTensors() == kTfLiteOk ? 0 : 1;
}
extern "C" void* tflm_model_input(tflm_model*, int32_t index) {
  return interpreter->input(index)->data.raw;
}
extern "C" const void* tflm_model_output(const tflm_model*, int32_t index) {
  return interpreter->output(index)->data.raw;
}
extern "C" int32_t tflm_model_run(tflm_model*) {
  return interpreter->Invoke() == kTfLiteOk ? 0 : 1;
}
