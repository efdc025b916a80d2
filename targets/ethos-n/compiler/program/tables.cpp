#include "program/tables.h"

#include <algorithm>

namespace intarsia::targets::ethos_n {
namespace {

enum VariantNumber : int64_t {
#define VARIANT(name, ...) name,
#define VARIANT_WITHOUT_KERNELS(...)
#include "intarsia/targets/ethos_n/variants.def"
#undef VARIANT
#undef VARIANT_WITHOUT_KERNELS
};
constexpr Variant kVariants[] = {
#define VARIANT(name, tag, stack_name, prefix, ces, igs, ogs, emcs, lanes, emc_kib, tops) \
  {tag, prefix, name, ces, igs, ogs, emcs, lanes, (emc_kib)*1024, tops},
#define VARIANT_WITHOUT_KERNELS(...)
#include "intarsia/targets/ethos_n/variants.def"
#undef VARIANT
#undef VARIANT_WITHOUT_KERNELS
};
constexpr std::string_view kWithoutKernels[] = {
#define VARIANT(...)
#define VARIANT_WITHOUT_KERNELS(tag, stack_name) tag,
#include "intarsia/targets/ethos_n/variants.def"
#undef VARIANT
#undef VARIANT_WITHOUT_KERNELS
};
constexpr PleKernel kPleKernels[] = {
#define PLE_KERNEL(number, operation, width, height, blocks, type, direction, text) \
  {number,        PleOperation::operation, width, height, blocks,                   \
   PleType::type, PleDirection::direction, text},
#include "intarsia/targets/ethos_n/ple_kernels.def"
#undef PLE_KERNEL
};
constexpr std::string_view kQueueNames[] = {
#define QUEUE(name, number) #name,
#include "intarsia/targets/ethos_n/stream.def"
};
constexpr std::string_view kCounterNames[] = {
#define COUNTER(name, number) #name,
#include "intarsia/targets/ethos_n/stream.def"
};
constexpr std::string_view kAgentNames[] = {
#define AGENT(name, number) #name,
#include "intarsia/targets/ethos_n/stream.def"
};
constexpr AgentField kAgentFields[] = {
#define AGENT_FIELD(agent, name, byte, bytes) {AgentType::agent, #name, byte, bytes},
#include "intarsia/targets/ethos_n/stream.def"
};
constexpr CommandRow kCommands[] = {
#define COMMAND(name, number, shape, queue) {#name, #shape, Queue::queue},
#include "intarsia/targets/ethos_n/stream.def"
};
struct ShapeRow {
  std::string_view name;
  size_t words;
};
constexpr ShapeRow kShapes[] = {
#define SHAPE(name, words) {#name, words},
#include "intarsia/targets/ethos_n/stream.def"
};
constexpr WordRow kWords[] = {
#define WORD(shape, name, index, count) {#shape, #name, index, count},
#include "intarsia/targets/ethos_n/stream.def"
};
constexpr Field kFields[] = {
#define FIELD(register, name, low_bit, bits, sign, adjust) reg::register##_##name,
#include "intarsia/targets/ethos_n/registers.def"
#undef FIELD
};

}  // namespace

std::span<const Variant> variants() {
  return kVariants;
}
std::span<const std::string_view> variants_without_kernels() {
  return kWithoutKernels;
}

std::string word_of(std::string_view tag) {
  constexpr std::string_view kFamily = "ethos-n78-";
  return std::string(tag.substr(kFamily.size()));
}

const Variant& variant_of(const Target& device) {
  for (const Variant& variant : kVariants)
    if (word_of(variant.tag) == device.get_string("variant")) return variant;
  INTARSIA_CHECK(false, "the kind admits only variants with kernels");
}

std::span<const PleKernel> ple_kernels() {
  return kPleKernels;
}
std::span<const std::string_view> agent_names() {
  return kAgentNames;
}
std::span<const std::string_view> queue_names() {
  return kQueueNames;
}
std::span<const std::string_view> counter_names() {
  return kCounterNames;
}
std::span<const AgentField> agent_fields() {
  return kAgentFields;
}
std::span<const CommandRow> command_rows() {
  return kCommands;
}
std::span<const WordRow> word_rows() {
  return kWords;
}
std::span<const Field> fields() {
  return kFields;
}

size_t words_of(std::string_view shape) {
  for (const ShapeRow& row : kShapes)
    if (row.name == shape) return row.words;
  INTARSIA_CHECK(false, "shapes are those of the table");
}

}  // namespace intarsia::targets::ethos_n
