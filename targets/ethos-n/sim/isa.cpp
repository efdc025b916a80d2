#include "intarsia/targets/ethos_n/isa.h"

#include <algorithm>

namespace intarsia::simulators::ethos_n {
namespace {

// The order of the table is that of the blocks of kernel numbers.
enum VariantNumber : uint32_t {
#define VARIANT(name, ...) name,
#define VARIANT_WITHOUT_KERNELS(...)
#include "intarsia/targets/ethos_n/variants.def"
#undef VARIANT
};

constexpr Variant kVariants[] = {
#define VARIANT(name, tag, stack_name, prefix, ces, igs, ogs, emcs, lanes, emc_kib, tops) \
  {name, tag, stack_name, prefix, ces, igs, ogs, emcs, lanes, emc_kib * 1024},
#include "intarsia/targets/ethos_n/variants.def"
#undef VARIANT
#undef VARIANT_WITHOUT_KERNELS
};

constexpr Kernel kKernels[] = {
#define PLE_KERNEL(number, operation, width, height, blocks, type, direction, text) \
  {number,           Operation::operation, width, height, blocks,                   \
   KernelType::type, Direction::direction, text},
#include "intarsia/targets/ethos_n/ple_kernels.def"
#undef PLE_KERNEL
};
static_assert(std::size(kKernels) == kKernelsOfVariant);

#define SHAPE(shape, words) constexpr uint32_t k##shape##Words = words;
#include "intarsia/targets/ethos_n/stream.def"

constexpr CommandRow kCommands[] = {
#define COMMAND(name, number, shape, queue) {#name, k##shape##Words, Queue::queue},
#include "intarsia/targets/ethos_n/stream.def"
};

constexpr std::string_view kCounterNames[] = {
#define COUNTER(name, number) #name,
#include "intarsia/targets/ethos_n/stream.def"
};
static_assert(std::size(kCounterNames) == kCounters);

constexpr std::string_view kQueueNames[] = {
#define QUEUE(name, number) #name,
#include "intarsia/targets/ethos_n/stream.def"
};
static_assert(std::size(kQueueNames) == kQueues);

}  // namespace

std::span<const Variant> variants() {
  return kVariants;
}

const Variant* find_variant(std::string_view tag) {
  const auto* found = std::find_if(std::begin(kVariants), std::end(kVariants),
                                   [&](const Variant& row) { return row.tag == tag; });
  return found == std::end(kVariants) ? nullptr : found;
}

const Kernel* find_kernel(const Variant& variant, uint32_t number) {
  if (number / kKernelsOfVariant != variant.number) return nullptr;
  return &kKernels[number % kKernelsOfVariant];
}

std::span<const CommandRow> command_table() {
  return kCommands;
}

std::string_view name_of(Counter counter) {
  const auto number = static_cast<size_t>(counter);
  return number < kCounters ? kCounterNames[number] : "unknown";
}

std::string_view name_of(Queue queue) {
  const auto number = static_cast<size_t>(queue);
  return number < kQueues ? kQueueNames[number] : "any";
}

}  // namespace intarsia::simulators::ethos_n
