#include "operators/lowering/dims.h"

#include <fmt/format.h>

namespace intarsia::operators {

std::vector<size_t> axis_runs(size_t rank, const std::function<bool(size_t)>& joins) {
  std::vector<size_t> runs;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (runs.empty() || !joins(axis)) runs.push_back(axis);
  }
  return runs;
}

namespace {

Stmt loops_from(FuncBuilder& b, const Shape& extents, std::vector<Expr>& indices,
                const std::function<Stmt(const std::vector<Expr>&)>& body) {
  const size_t depth = indices.size();
  if (depth == extents.size()) return body(indices);
  const bool innermost = depth + 1 == extents.size();
  const std::string name = innermost ? "i" : fmt::format("d{}", depth);
  return b.loop(name, extents[depth], [&](const Expr& index) {
    indices.push_back(index);
    Stmt inner = loops_from(b, extents, indices, body);
    indices.pop_back();
    return inner;
  });
}

}  // namespace

Stmt nested_loops(FuncBuilder& b, const Shape& extents,
                  const std::function<Stmt(const std::vector<Expr>&)>& body) {
  std::vector<Expr> indices;
  return loops_from(b, extents, indices, body);
}

int64_t product(const Shape& shape, size_t first, size_t last) {
  int64_t result = 1;
  for (size_t axis = first; axis < last; ++axis) result *= shape[axis];
  return result;
}

}  // namespace intarsia::operators
