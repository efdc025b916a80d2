// A model as firmware with TFLite Micro, behind the functions that the boards' generic main calls. TFLM_MODEL_FILE: the
// .tflite; TFLM_ARENA_BYTES: what its tensors may take, in the section TFLM_ARENA_SECTION; TFLM_TRACED: how many operators run
// through functions of their own, by which their cycles are told apart (0: none).
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

#if TFLM_TRACED
typedef TfLiteStatus (*tflm_invoke)(TfLiteContext*, TfLiteNode*);
extern "C" {
// Of each operator in the order of the graph: calls `invoke` with what follows (tflm_operators.c).
extern TfLiteStatus (*const tflm_operators[])(tflm_invoke invoke, TfLiteContext*, TfLiteNode*);
}
#endif

namespace {

using Kinds = tflite::MicroMutableOpResolver<128>;

alignas(16) __attribute__((section(TFLM_ARENA_SECTION))) unsigned char arena[TFLM_ARENA_BYTES];
#if TFLM_TRACED
int32_t next_operator;  // of the run

// Operators of the first subgraph are looked up one by one, and run in the same order.
class Resolver : public Kinds {
 public:
  using Kinds::FindOp;
  const TFLMRegistration* FindOp(tflite::BuiltinOperator kind) const override {
    const TFLMRegistration* found = Kinds::FindOp(kind);
    if (found == nullptr || count_ == TFLM_TRACED) return found;
    invokes_[count_] = found->invoke;
    traced_[count_] = *found;
    traced_[count_].invoke = run;
    return &traced_[count_++];
  }

 private:
  static TfLiteStatus run(TfLiteContext* context, TfLiteNode* node) {
    const int32_t index = next_operator++;
    return tflm_operators[index](invokes_[index], context, node);
  }
  static tflm_invoke invokes_[TFLM_TRACED];
  static TFLMRegistration traced_[TFLM_TRACED];
  static int32_t count_;
};
tflm_invoke Resolver::invokes_[TFLM_TRACED];
TFLMRegistration Resolver::traced_[TFLM_TRACED];
int32_t Resolver::count_;
#else
using Resolver = Kinds;
#endif

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
#if TFLM_TRACED
  next_operator = 0;
#endif
  return interpreter->Invoke() == kTfLiteOk ? 0 : 1;
}
