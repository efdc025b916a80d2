// GridSample: an image at places that a running model computes. Along each axis a place has one, two or four pixels around it,
// with weights; the result is the weighted sum of their products' pixels, which are gathered.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/onnx/reader.h"
#include "import/onnx/readers.h"

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

// A pixel along one axis: its number as a float within the image, and its share; no tensor is the whole.
struct Tap {
  TensorId place, weight;
};

class GridSample {
 public:
  explicit GridSample(Reader& in) : in_(in) {}

  void read() {
    const Shape image = in_.shape_of(0), grid = in_.shape_of(1);
    mode_ = in_.text("mode", "linear");
    padding_ = in_.text("padding_mode", "zeros");
    corners_ = in_.integer("align_corners", 0) != 0;
    if (mode_ == "bilinear") mode_ = "linear";
    if (mode_ == "bicubic") mode_ = "cubic";
    if (!in_.require(mode_ == "linear" || mode_ == "nearest" || mode_ == "cubic",
                     fmt::format("has the mode '{}'", tflite::printable(mode_)),
                     "linear, nearest and cubic are possible") ||
        !in_.require(padding_ == "zeros" || padding_ == "border" || padding_ == "reflection",
                     fmt::format("has the padding '{}'", tflite::printable(padding_)),
                     "zeros, border and reflection are possible") ||
        !in_.require(
            image.size() == 4 && grid.size() == 4,
            fmt::format("samples the rank {} at places of rank {}", image.size(), grid.size()),
            "images of two axes are possible") ||
        !in_.require(
            image[0] == grid[0] && grid[3] == 2,
            fmt::format("samples [{}] at [{}]", fmt::join(image, ","), fmt::join(grid, ","))))
      return;
    const int64_t batch = image[0], channels = image[1], height = image[2], width = image[3];
    // Places are numbers of 32 bits, and floats hold them exactly up to 2^24.
    constexpr int64_t kMostPixels = int64_t{1} << 24;
    if (!in_.require(height * width <= kMostPixels,
                     fmt::format("samples {} pixels", height * width),
                     fmt::format("at most {} are possible", kMostPixels)))
      return;
    points_ = {batch, grid[1] * grid[2], 1};
    const TensorId places = in_.reshape(in_.operand(1), {batch, points_[1], 2});
    const TensorId pixels =
        in_.reshape(in_.to_channels_last(in_.operand(0)), {batch, height * width, channels});
    if (!in_.ok()) return;
    const std::vector<Tap> across = taps(coordinate(places, 0), width);
    const std::vector<Tap> down = taps(coordinate(places, 1), height);
    TensorId sum;
    for (const Tap& y : down) {
      for (const Tap& x : across) {
        if (!in_.ok()) return;
        const TensorId at = in_.reshape(
            in_.cast(two(OpKind::Add, two(OpKind::Mul, y.place, number(width)), x.place),
                     DataType::Int32),
            {batch, points_[1]});
        TensorId value =
            in_.emit_alike(OpKind::Gather, graph::GatherAttrs{1, 1}, {pixels, at}, "pixel");
        for (const TensorId weight : {y.weight, x.weight})
          if (weight.valid()) value = two(OpKind::Mul, value, weight);
        sum = sum.valid() ? two(OpKind::Add, sum, value) : value;
      }
    }
    if (in_.ok())
      in_.result(in_.to_channels_first(in_.reshape(sum, {batch, grid[1], grid[2], channels})));
  }

 private:
  TensorId two(OpKind kind, TensorId a, TensorId b) {
    return in_.emit(kind, BinaryAttrs{}, {a, b}, kFloat, {}, "part");
  }
  TensorId extreme(OpKind kind, TensorId a, float b) {
    return in_.emit(kind, NoAttrs{}, {a, in_.number(b)}, kFloat, {}, "part");
  }
  TensorId one(OpKind kind, TensorId id) {
    return in_.emit(kind, NoAttrs{}, {id}, kFloat, {}, "part");
  }
  TensorId number(int64_t value) { return in_.number(static_cast<float>(value)); }

  TensorId coordinate(TensorId places, int64_t which) {
    const graph::SliceAttrs cut{{0, 0, which}, points_, {1, 1, 1}, {}};
    return in_.emit_alike(OpKind::Slice, cut, {places}, which == 0 ? "x" : "y");
  }

  // Thrown back at both ends as often as it takes: of the middle of the first and the last pixel, or of their edges.
  TensorId reflected(TensorId place, int64_t extent) {
    const float low = corners_ ? 0.0f : -0.5f;
    const auto length = static_cast<float>(corners_ ? extent - 1 : extent);
    if (length == 0) return two(OpKind::Mul, place, number(0));
    // What is left of two lengths, there and back.
    const TensorId way = one(OpKind::Abs, two(OpKind::Sub, place, in_.number(low)));
    const TensorId rounds = one(OpKind::Floor, two(OpKind::Mul, way, in_.number(0.5f / length)));
    const TensorId rest = two(OpKind::Sub, way, two(OpKind::Mul, rounds, in_.number(2 * length)));
    const TensorId back = one(OpKind::Abs, two(OpKind::Sub, rest, in_.number(length)));
    return two(OpKind::Sub, in_.number(low + length), back);
  }

  Tap tap(TensorId place, TensorId weight, int64_t extent) {
    const auto last = static_cast<float>(extent - 1);
    const TensorId pixel = padding_ == "reflection" ? reflected(place, extent) : place;
    const TensorId inside = extreme(OpKind::Minimum, extreme(OpKind::Maximum, pixel, 0), last);
    if (padding_ != "zeros") return {inside, weight};
    // Pixels outside count nothing.
    const TensorId is_inside =
        in_.emit(OpKind::Equal, NoAttrs{}, {place, inside}, DataType::Bool, {}, "inside");
    const TensorId whole = weight.valid() ? weight : in_.number(1);
    return {inside, in_.emit(OpKind::Select, NoAttrs{}, {is_inside, whole, in_.number(0)}, kFloat,
                             {}, "weight")};
  }

  // Of a coordinate -1 .. 1 from end to end.
  std::vector<Tap> taps(TensorId coordinate, int64_t extent) {
    const auto size = static_cast<float>(corners_ ? extent - 1 : extent);
    TensorId place =
        two(OpKind::Mul, two(OpKind::Add, coordinate, in_.number(1)), in_.number(size / 2));
    if (!corners_) place = two(OpKind::Sub, place, in_.number(0.5f));
    if (padding_ == "border" && mode_ != "cubic")
      place = extreme(OpKind::Minimum, extreme(OpKind::Maximum, place, 0),
                      static_cast<float>(extent - 1));
    if (padding_ == "reflection" && mode_ != "cubic") place = reflected(place, extent);
    if (mode_ == "nearest") return {tap(one(OpKind::Round, place), {}, extent)};
    const TensorId first = one(OpKind::Floor, place);
    const TensorId share = two(OpKind::Sub, place, first);
    const TensorId next = two(OpKind::Add, first, number(1));
    if (mode_ == "linear")
      return {tap(first, two(OpKind::Sub, number(1), share), extent), tap(next, share, extent)};
    const TensorId beyond = two(OpKind::Sub, number(1), share);
    return {tap(two(OpKind::Sub, first, number(1)), far(share), extent),
            tap(first, near(share), extent), tap(next, near(beyond), extent),
            tap(two(OpKind::Add, first, number(2)), far(beyond), extent)};
  }

  // The cubic kernel with a = -3/4, of a pixel at a distance below 1: ((a + 2) t - (a + 3)) t^2 + 1;
  // and of the one behind it, at 1 + t: a (t^3 - 2 t^2 + t).
  TensorId near(TensorId t) {
    const TensorId line =
        two(OpKind::Sub, two(OpKind::Mul, t, in_.number(1.25f)), in_.number(2.25f));
    return two(OpKind::Add, two(OpKind::Mul, line, two(OpKind::Mul, t, t)), number(1));
  }
  TensorId far(TensorId t) {
    const TensorId rest = two(OpKind::Sub, t, number(1));
    return two(OpKind::Mul, two(OpKind::Mul, t, two(OpKind::Mul, rest, rest)), in_.number(-0.75f));
  }

  Reader& in_;
  std::string mode_, padding_;
  bool corners_ = false;
  Shape points_;  // one number for each place
};

}  // namespace

void read_grid_sample(Reader& in) {
  GridSample(in).read();
}

}  // namespace intarsia::onnx
