// Boxes that a detector has found: TFLite's TFLite_Detection_PostProcess.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "operators/families.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

enum DetectionOperand : size_t { kDetectedBoxes, kDetectedScores, kDetectionAnchors };
enum DetectionResult : size_t { kFoundBoxes, kFoundClasses, kFoundScores, kFoundCount };

constexpr int64_t kMostDetections = 1 << 16;

Shapes infer_detect_boxes(OpCheck& check) {
  const auto& a = check.node.attrs<DetectBoxesAttrs>();
  check.rank(kDetectedBoxes, 3, "boxes"), check.rank(kDetectedScores, 3, "scores");
  check.rank(kDetectionAnchors, 2, "anchors");
  check.in_range("classes", a.classes, 1), check.in_range("most", a.most, 1);
  check.in_range("most_of_class", a.most_of_class, 1);
  if (!check.ok()) return {};
  const Shape &boxes = check.in(kDetectedBoxes).shape, &scores = check.in(kDetectedScores).shape;
  const int64_t count = boxes[1];
  check.require(boxes[0] == 1 && scores[0] == 1, "has several images, takes one");
  check.require(boxes[2] >= 4, fmt::format("has {} numbers for a box, needs 4", boxes[2]));
  check.require(scores[1] == count && check.in(kDetectionAnchors).shape == Shape{count, 4},
                fmt::format("needs scores and an anchor for each of {} boxes", count));
  check.require(scores[2] == a.classes || scores[2] == a.classes + 1,
                fmt::format("has {} scores for {} classes", scores[2], a.classes),
                "one more, for the background, is possible");
  check.require(a.most <= kMostDetections,
                fmt::format("finds {} boxes, at most {} are possible", a.most, kMostDetections));
  for (const float scale : {a.y_scale, a.x_scale, a.h_scale, a.w_scale})
    check.require(std::isfinite(scale) && scale > 0, "has a scale that is not positive");
  check.require(!std::isnan(a.least_score) && !std::isnan(a.most_overlap),
                "has a threshold that is no number");
  for (const size_t i : {kFoundClasses, kFoundScores, kFoundCount})
    check.require(check.out(i).type == Float32, "makes f32");
  return {{1, a.most, 4}, {1, a.most}, {1, a.most}, {1}};
}

// ---- reference ----

struct Corners {
  float y0, x0, y1, x1;
  float area() const { return (y1 - y0) * (x1 - x0); }
};

float overlap_of(const Corners& a, const Corners& b) {
  if (a.area() <= 0 || b.area() <= 0) return 0;
  const float height = std::max(std::min(a.y1, b.y1) - std::max(a.y0, b.y0), 0.0f);
  const float width = std::max(std::min(a.x1, b.x1) - std::max(a.x0, b.x0), 0.0f);
  return height * width / (a.area() + b.area() - height * width);
}

std::vector<Corners> decoded_boxes(const Invocation& call) {
  const auto& a = call.node.attrs<DetectBoxesAttrs>();
  const Shape& shape = call.in(kDetectedBoxes).shape;
  std::vector<Corners> boxes;
  for (int64_t i = 0; i < shape[1]; ++i) {
    const float* box = call.data<float>(kDetectedBoxes) + i * shape[2];
    const float* anchor = call.data<float>(kDetectionAnchors) + i * 4;
    const float y = box[0] / a.y_scale * anchor[2] + anchor[0];
    const float x = box[1] / a.x_scale * anchor[3] + anchor[1];
    const float half_height = 0.5f * std::exp(box[2] / a.h_scale) * anchor[2];
    const float half_width = 0.5f * std::exp(box[3] / a.w_scale) * anchor[3];
    boxes.push_back({y - half_height, x - half_width, y + half_height, x + half_width});
  }
  return boxes;
}

// Numbers of the boxes that no better one overlaps, in falling order of their scores.
std::vector<size_t> kept_boxes(const std::vector<Corners>& boxes, const std::vector<float>& scores,
                               const DetectBoxesAttrs& a, int64_t most) {
  std::vector<size_t> order, kept;
  for (size_t i = 0; i < boxes.size(); ++i)
    if (scores[i] >= a.least_score) order.push_back(i);
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return scores[i]; });
  for (const size_t box : order) {
    if (std::ssize(kept) == most) break;
    if (std::ranges::none_of(kept, [&](size_t better) {
          return overlap_of(boxes[better], boxes[box]) > a.most_overlap;
        }))
      kept.push_back(box);
  }
  return kept;
}

struct Detection {
  size_t box;
  int64_t class_;
  float score;
};

Result<void> eval_detect_boxes(const Invocation& call) {
  const auto& a = call.node.attrs<DetectBoxesAttrs>();
  const std::vector<Corners> boxes = decoded_boxes(call);
  const int64_t columns = call.in(kDetectedScores).shape[2], first = columns - a.classes;
  const auto score = [&](size_t box, int64_t class_) {
    return call.data<float>(kDetectedScores)[static_cast<int64_t>(box) * columns + first + class_];
  };
  std::vector<Detection> found;
  std::vector<float> scores(boxes.size());
  std::vector<int64_t> best(boxes.size());
  if (a.by_class) {
    for (int64_t class_ = 0; class_ < a.classes; ++class_) {
      for (size_t i = 0; i < boxes.size(); ++i) scores[i] = score(i, class_);
      for (const size_t box : kept_boxes(boxes, scores, a, a.most_of_class))
        found.push_back({box, class_, scores[box]});
    }
    std::ranges::stable_sort(found, std::greater(), &Detection::score);
    if (std::ssize(found) > a.most) found.erase(found.begin() + a.most, found.end());
  } else {
    for (size_t i = 0; i < boxes.size(); ++i) {
      for (int64_t class_ = 1; class_ < a.classes; ++class_)
        if (score(i, class_) > score(i, best[i])) best[i] = class_;
      scores[i] = score(i, best[i]);
    }
    for (const size_t box : kept_boxes(boxes, scores, a, a.most))
      found.push_back({box, best[box], scores[box]});
  }
  std::fill_n(call.result<float>(kFoundBoxes), a.most * 4, 0.0f);
  std::fill_n(call.result<float>(kFoundClasses), a.most, 0.0f);
  std::fill_n(call.result<float>(kFoundScores), a.most, 0.0f);
  for (size_t i = 0; i < found.size(); ++i) {
    const Corners& box = boxes[found[i].box];
    std::ranges::copy(std::initializer_list<float>{box.y0, box.x0, box.y1, box.x1},
                      call.result<float>(kFoundBoxes) + 4 * i);
    call.result<float>(kFoundClasses)[i] = static_cast<float>(found[i].class_);
    call.result<float>(kFoundScores)[i] = found[i].score;
  }
  *call.result<float>(kFoundCount) = static_cast<float>(found.size());
  return {};
}

// ---- C ----

Stmt lower_detect_boxes(OpLowering& op) {
  const auto& a = op.view.node.attrs<DetectBoxesAttrs>();
  const int64_t count = op.view.in(kDetectedBoxes).shape[1];
  const int64_t width = op.view.in(kDetectedBoxes).shape[2];
  const int64_t columns = op.view.in(kDetectedScores).shape[2];
  op.declare({Shape{count * width}, Shape{count * columns}, Shape{count * 4}},
             {Shape{a.most * 4}, Shape{a.most}, Shape{a.most}, Shape{1}});
  constexpr int32_t kFloatAlignment = 4;
  const BufferId corners = op.b.local("corners", Float32, {count * 4}, kFloatAlignment);
  const BufferId open = op.b.local("open", UInt8, {count});
  const auto run = [](BufferId buffer, int64_t elements, tir::Access access) {
    return tir::BufferRun{buffer, {tir::int_imm(0)}, elements, access};
  };
  using enum tir::Access;
  const Stmt decode = tir::intrinsic(
      "intarsia_decode_boxes",
      {run(op.in(kDetectedBoxes), count * width, Read),
       run(op.in(kDetectionAnchors), count * 4, Read), run(corners, count * 4, Write),
       tir::float_imm(a.y_scale), tir::float_imm(a.x_scale), tir::float_imm(a.h_scale),
       tir::float_imm(a.w_scale), tir::int_imm(width), tir::int_imm(count)});
  std::vector<std::variant<tir::BufferRun, Expr>> operands{
      run(corners, count * 4, Read),
      run(op.in(kDetectedScores), count * columns, Read),
      run(op.out(kFoundBoxes), a.most * 4, Write),
      run(op.out(kFoundClasses), a.most, Write),
      run(op.out(kFoundScores), a.most, Write),
      run(op.out(kFoundCount), 1, Write),
      run(open, count, Write),
      tir::float_imm(a.least_score),
      tir::float_imm(a.most_overlap),
      tir::int_imm(count),
      tir::int_imm(columns),
      tir::int_imm(a.classes),
      tir::int_imm(a.most)};
  if (a.by_class) operands.emplace_back(tir::int_imm(a.most_of_class));
  return tir::seq({decode, tir::intrinsic(a.by_class ? "intarsia_detect_boxes_by_class"
                                                     : "intarsia_detect_boxes",
                                          std::move(operands))});
}

constexpr TypeRule kDetectionTypes[] = {{Float32, Float32, Float32, Float32}};

constexpr Operator kDetectionOperators[] = {
    {.kind = OpKind::DetectBoxes,
     .types = kDetectionTypes,
     .infer = infer_detect_boxes,
     .evaluate = eval_detect_boxes,
     .lower = lower_detect_boxes},
};

}  // namespace

std::span<const Operator> detection_operators() {
  return kDetectionOperators;
}

}  // namespace intarsia::operators
