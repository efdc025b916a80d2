#include "intarsia/targets/ethos_u/checker_limits.h"

#include <string>
#include <string_view>

namespace intarsia::simulators::ethos_u {
namespace {

namespace limit {
#define LIMIT(name, value) inline constexpr int64_t k##name = value;
#define SPLIT_DEPTH(channels) inline constexpr int64_t kSplitDepth = channels;
#define OPERAND_TYPES(...)
#include "intarsia/targets/ethos_u/limits.def"
#undef LIMIT
#undef SPLIT_DEPTH
#undef OPERAND_TYPES
}  // namespace limit

constexpr unsigned bit(ElementType type) {
  return 1u << static_cast<unsigned>(type);
}

// A row of the table for the operations it names.
enum class Named : uint8_t {
#define LIMIT(...)
#define SPLIT_DEPTH(...)
#define OPERAND_TYPES(operation, ...) operation,
#include "intarsia/targets/ethos_u/limits.def"
#undef OPERAND_TYPES
};

enum class Relation : uint8_t { Any, Same };

struct TypeRow {
  std::string_view name;
  unsigned ifm, ofm;  // unions of bit(type)
  Relation relation;
};

const TypeRow& row_of(Named operation) {
  constexpr unsigned U8 = bit(ElementType::U8), S8 = bit(ElementType::S8),
                     S16 = bit(ElementType::S16), S32 = bit(ElementType::S32);
  using enum Relation;
  static constexpr TypeRow kRows[] = {
#define OPERAND_TYPES(operation, ifm, ofm, relation) {#operation, ifm, ofm, relation},
#include "intarsia/targets/ethos_u/limits.def"
#undef LIMIT
#undef SPLIT_DEPTH
#undef OPERAND_TYPES
  };
  return kRows[static_cast<size_t>(operation)];
}

Named named(const Operation& op) {
  switch (op.kind) {
    case OperationKind::Conv:
      return Named::Conv;
    case OperationKind::Depthwise:
      return Named::Depthwise;
    case OperationKind::Pool:
      switch (op.pooling) {
        case PoolingMode::Max:
          return Named::MaxPool;
        case PoolingMode::Average:
          return Named::AveragePool;
        case PoolingMode::ReduceSum:
          return Named::ReduceSum;
      }
      break;
    case OperationKind::Elementwise:
      switch (op.elementwise) {
        case ElementwiseMode::Mul:
          return Named::Mul;
        case ElementwiseMode::Add:
          return Named::Add;
        case ElementwiseMode::Sub:
          return Named::Sub;
        case ElementwiseMode::Min:
          return Named::Min;
        case ElementwiseMode::Max:
          return Named::Max;
        case ElementwiseMode::LeakyRelu:
          return Named::LeakyRelu;
        case ElementwiseMode::Abs:
          return Named::Abs;
        case ElementwiseMode::Clz:
          return Named::Clz;
        case ElementwiseMode::Shr:
          return Named::Shr;
        case ElementwiseMode::Shl:
          return Named::Shl;
      }
      break;
  }
  return Named::Abs;
}

std::string_view name_of(ElementType type) {
  constexpr std::string_view kNames[] = {"U8", "S8", "U16", "S16", "S32"};
  return kNames[static_cast<size_t>(type)];
}

void check_types(const Operation& op, const Report& report) {
  const TypeRow& row = row_of(named(op));
  const auto complain = [&](std::string what) { report(FindingKind::OperandTypes, what); };
  const std::string name(row.name), ifm(name_of(op.ifm.type)), ofm(name_of(op.ofm.type));
  if ((row.ifm & bit(op.ifm.type)) == 0) complain(name + " takes no IFM of " + ifm);
  if ((row.ofm & bit(op.ofm.type)) == 0) complain(name + " makes no OFM of " + ofm);
  if (row.relation == Relation::Same && op.ifm.type != op.ofm.type)
    complain(name + " of " + ifm + " makes " + ifm + ", not " + ofm);
  if ((op.has_ifm2 || op.has_scalar) && op.ifm2.type != op.ifm.type)
    complain(name + " takes operands of one type, not " + ifm + " and " +
             std::string(name_of(op.ifm2.type)));
}

void check_kernel(const Operation& op, const Report& report) {
  const auto complain = [&](std::string what) { report(FindingKind::KernelSize, what); };
  const Kernel& kernel = op.kernel;
  const int64_t height = kernel.extent_y(), width = kernel.extent_x();
  const bool pool = op.kind == OperationKind::Pool;
  const std::string what = pool ? "a window of " : "a kernel of ";
  const std::string size = what + std::to_string(height) + " x " + std::to_string(width);
  const int64_t most_height = pool ? limit::kPoolHeight : limit::kKernelHeight;
  const int64_t most_elements = pool ? limit::kPoolElements : limit::kKernelElements;
  if (height > most_height) complain(size + " is higher than " + std::to_string(most_height));
  if (height * width > most_elements)
    complain(size + " has more than " + std::to_string(most_elements) + " elements");
  if (kernel.stride_x > limit::kStride || kernel.stride_y > limit::kStride)
    complain("a stride of " + std::to_string(kernel.stride_y) + " x " +
             std::to_string(kernel.stride_x) + " is above " + std::to_string(limit::kStride));
  const bool averages = pool && op.pooling == PoolingMode::Average;
  if (averages && op.padding.any() &&
      (height > limit::kPaddedAverage || width > limit::kPaddedAverage))
    complain("a padded average over " + std::to_string(height) + " x " + std::to_string(width) +
             " is above " + std::to_string(limit::kPaddedAverage) + " x " +
             std::to_string(limit::kPaddedAverage));
}

// In front, windows of nothing but padding are found with the registers. Behind, they are as empty.
void check_padding(const Operation& op, const Report& report) {
  const Padding& pad = op.padding;
  const auto complain = [&](std::string what) { report(FindingKind::Padding, what); };
  if (pad.top > limit::kPadBefore || pad.left > limit::kPadBefore)
    complain("padding of " + std::to_string(pad.top) + " rows on top and " +
             std::to_string(pad.left) + " columns on the left is above " +
             std::to_string(limit::kPadBefore));
  if (pad.bottom > limit::kPadAfter || pad.right > limit::kPadAfter)
    complain("padding of " + std::to_string(pad.bottom) + " rows at the bottom and " +
             std::to_string(pad.right) + " columns on the right is above " +
             std::to_string(limit::kPadAfter));
  if (pad.bottom >= op.kernel.extent_y() || pad.right >= op.kernel.extent_x())
    complain("padding of " + std::to_string(pad.bottom) + " rows at the bottom and " +
             std::to_string(pad.right) + " columns on the right leaves windows of " +
             std::to_string(op.kernel.extent_y()) + "x" + std::to_string(op.kernel.extent_x()) +
             " with nothing else");
}

}  // namespace

void check_limits(const Operation& op, const Report& report) {
  check_types(op, report);
  if (op.kind != OperationKind::Elementwise) {
    check_kernel(op, report);
    check_padding(op, report);
  }
  if (op.ofm_block.depth < op.ofm.depth && op.ofm_block.depth % limit::kSplitDepth != 0)
    report(FindingKind::BlockConfiguration,
           "OFM_BLK_DEPTH " + std::to_string(op.ofm_block.depth) + " divides an OFM of depth " +
               std::to_string(op.ofm.depth) + " and is no multiple of " +
               std::to_string(limit::kSplitDepth));
}

void check_limits(const Wait& wait, const Configuration& configuration, const Report& report) {
  const ProductRow& product = configuration.row();
  const bool kernels = wait.kind == WaitKind::Kernel;
  const int64_t most = kernels ? product.outstanding_kernels : product.outstanding_dma;
  if (wait.outstanding >= most)
    report(FindingKind::WaitValue, "waits until at most " + std::to_string(wait.outstanding) +
                                       (kernels ? " operations" : " transfers") +
                                       " are under way, and never are there more than " +
                                       std::to_string(most));
}

}  // namespace intarsia::simulators::ethos_u
