// RoiAlign: regions of an image, each brought to one size by samples between pixels. Rows and columns of a region are sampled
// apart: the means of bins are products with two small matrices, which the running model computes from the region's corners.
#include <array>
#include <cmath>

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

class RegionAlign {
 public:
  explicit RegionAlign(Reader& in) : in_(in) {}

  void read() {
    const Shape image = in_.shape_of(0), corners = in_.shape_of(1), numbers = in_.shape_of(2);
    const std::string mode = in_.text("mode", "avg");
    const std::string place =
        in_.text("coordinate_transformation_mode",
                 in_.node().operator_set < 16 ? "output_half_pixel" : "half_pixel");
    const int64_t rows = in_.integer("output_height", 1), columns = in_.integer("output_width", 1);
    samples_ = in_.integer("sampling_ratio", 0);
    scale_ = in_.real("spatial_scale", 1);
    is_exact_ = place == "half_pixel";
    constexpr int64_t kMost = 4096;
    if (!in_.require(mode == "avg" || mode == "max",
                     fmt::format("has the mode '{}'", tflite::printable(mode)),
                     "avg and max are possible") ||
        !in_.require(is_exact_ || place == "output_half_pixel",
                     fmt::format("places regions by '{}'", tflite::printable(place)),
                     "half_pixel and output_half_pixel are possible") ||
        !in_.require(
            image.size() == 4 && corners.size() == 2 && corners[1] == 4 &&
                numbers == Shape{corners[0]},
            fmt::format("takes regions [{}] of images [{}], of which [{}] are named",
                        fmt::join(corners, ","), fmt::join(image, ","), fmt::join(numbers, ","))) ||
        !in_.require(rows >= 1 && rows <= kMost && columns >= 1 && columns <= kMost &&
                         samples_ >= 0 && samples_ <= kMost && std::isfinite(scale_),
                     fmt::format("makes {} x {} bins of {} samples", rows, columns, samples_)) ||
        !in_.require(mode == "avg" || samples_ > 0,
                     "looks for the largest of as many samples as a region is large",
                     "export it with a sampling_ratio"))
      return;
    // Places are numbers of 32 bits, and floats hold them exactly up to 2^24.
    constexpr int64_t kMostPixels = int64_t{1} << 24;
    if (!in_.require(image[0] * image[2] * image[3] <= kMostPixels,
                     fmt::format("samples {} pixels", image[0] * image[2] * image[3]),
                     fmt::format("at most {} are possible", kMostPixels)))
      return;
    images_ = image[0], channels_ = image[1], regions_ = corners[0];
    const Axis down{image[2], rows, 1}, across{image[3], columns, 0};
    if (samples_ == 0)
      in_.remark(
          fmt::format("takes up to {} x {} samples of a bin", most_samples(down),
                      most_samples(across)),
          "a region that is larger than the image needs more; sampling_ratio states how many");
    const TensorId pixels = in_.to_channels_last(in_.operand(0));
    if (!in_.ok()) return;
    const TensorId made =
        mode == "avg" ? means(pixels, down, across) : largest(pixels, down, across);
    if (in_.ok()) in_.result(in_.to_channels_first(made));
  }

 private:
  // Of the image and of the result; `corner`: the number of its coordinate.
  struct Axis {
    int64_t extent, bins, corner;
  };
  // Coordinates of samples[R,S] within the image, whether they count (1 or 0), and what is to be divided by[R,1]; no tensor: by how
  // many samples there are.
  struct Samples {
    TensorId place, counts, divisor;
  };

  TensorId two(OpKind kind, TensorId a, TensorId b) {
    return in_.emit(kind, BinaryAttrs{}, {a, b}, kFloat, {}, "part");
  }
  TensorId plain(OpKind kind, std::vector<TensorId> operands, DataType type = kFloat) {
    return in_.emit(kind, NoAttrs{}, std::move(operands), type, {}, "part");
  }
  TensorId number(int64_t value) { return in_.number(static_cast<float>(value)); }
  TensorId numbers(Shape shape, std::vector<float> values) {
    return in_.make_constant(real_values(std::move(shape), std::move(values)));
  }
  int64_t most_samples(const Axis& axis) const {
    return samples_ > 0 ? samples_ : (axis.extent + axis.bins - 1) / axis.bins;
  }

  TensorId coordinate(int64_t which) {
    const graph::SliceAttrs cut{{0, which}, {regions_, 1}, {1, 1}, {}};
    const TensorId given = in_.emit_alike(OpKind::Slice, cut, {in_.operand(1)}, "corner");
    const TensorId scaled = two(OpKind::Mul, given, in_.number(scale_));
    return is_exact_ ? two(OpKind::Sub, scaled, in_.number(0.5f)) : scaled;
  }

  Samples samples_along(const Axis& axis) {
    const TensorId begin = coordinate(axis.corner);
    TensorId size = two(OpKind::Sub, coordinate(axis.corner + 2), begin);
    if (!is_exact_) size = plain(OpKind::Maximum, {size, number(1)});
    const TensorId bin = two(OpKind::Div, size, number(axis.bins));
    const int64_t most = most_samples(axis);
    std::vector<float> bins, steps;
    for (int64_t i = 0; i < axis.bins * most; ++i) {
      bins.push_back(static_cast<float>(i / most));
      steps.push_back(static_cast<float>(i % most) + 0.5f);
    }
    const Shape row{1, axis.bins * most};
    Samples result;
    TensorId step, enough;
    if (samples_ > 0) {
      step = two(OpKind::Div, bin, number(samples_));
    } else {
      const TensorId count = plain(OpKind::Ceil, {bin});
      enough = plain(OpKind::Less, {numbers(row, steps), count}, DataType::Bool);
      result.divisor = plain(OpKind::Maximum, {count, number(1)});
      step = two(OpKind::Div, bin, result.divisor);
    }
    const TensorId place =
        two(OpKind::Add, two(OpKind::Add, begin, two(OpKind::Mul, bin, numbers(row, bins))),
            two(OpKind::Mul, step, numbers(row, steps)));
    TensorId counts =
        plain(OpKind::LogicalAnd,
              {plain(OpKind::GreaterEqual, {place, number(-1)}, DataType::Bool),
               plain(OpKind::LessEqual, {place, number(axis.extent)}, DataType::Bool)},
              DataType::Bool);
    if (enough.valid()) counts = plain(OpKind::LogicalAnd, {counts, enough}, DataType::Bool);
    result.counts = plain(OpKind::Select, {counts, number(1), number(0)});
    // A region that is no number has no place in the image.
    const TensorId inside = plain(OpKind::Select, {counts, place, number(0)});
    result.place = plain(OpKind::Minimum,
                         {plain(OpKind::Maximum, {inside, number(0)}), number(axis.extent - 1)});
    return result;
  }

  // What each pixel of an axis adds to each bin: [R,bins,extent].
  TensorId shares(const Axis& axis) {
    const Samples samples = samples_along(axis);
    const int64_t most = most_samples(axis), all = axis.bins * most;
    std::vector<float> pixels;
    for (int64_t i = 0; i < axis.extent; ++i) pixels.push_back(static_cast<float>(i));
    const TensorId apart =
        plain(OpKind::Abs, {two(OpKind::Sub, in_.reshape(samples.place, {regions_, all, 1}),
                                numbers({1, 1, axis.extent}, pixels))});
    const TensorId near = plain(OpKind::Maximum, {two(OpKind::Sub, number(1), apart), number(0)});
    const TensorId counted =
        two(OpKind::Mul, near, in_.reshape(samples.counts, {regions_, all, 1}));
    const TensorId sums = in_.emit(OpKind::Sum, graph::ReduceAttrs{{2}, false},
                                   {in_.reshape(counted, {regions_, axis.bins, most, axis.extent})},
                                   kFloat, {}, "sum");
    return two(
        OpKind::Div, sums,
        samples.divisor.valid() ? in_.reshape(samples.divisor, {regions_, 1, 1}) : number(most));
  }

  TensorId means(TensorId pixels, const Axis& down, const Axis& across) {
    const TensorId by_row = shares(down), by_column = shares(across);
    if (!in_.ok()) return {};
    const int64_t line = across.extent * channels_;
    TensorId rows;
    if (images_ == 1) {
      rows = in_.emit(OpKind::BatchMatmul, graph::BatchMatmulAttrs{},
                      {in_.reshape(by_row, {regions_ * down.bins, down.extent}),
                       in_.reshape(pixels, {down.extent, line})},
                      kFloat, {}, "rows");
    } else {
      const TensorId chosen = in_.emit_alike(OpKind::Gather, graph::GatherAttrs{0, 0},
                                             {in_.reshape(pixels, {images_, down.extent, line}),
                                              in_.cast(in_.operand(2), DataType::Int32)},
                                             "images");
      rows = in_.emit(OpKind::BatchMatmul, graph::BatchMatmulAttrs{}, {by_row, chosen}, kFloat, {},
                      "rows");
    }
    if (!in_.ok()) return {};
    return in_.emit(OpKind::BatchMatmul, graph::BatchMatmulAttrs{},
                    {in_.reshape(by_column, {regions_, 1, across.bins, across.extent}),
                     in_.reshape(rows, {regions_, down.bins, across.extent, channels_})},
                    kFloat, {}, "bins");
  }

  // The two pixels around each sample, and their shares.
  struct Taps {
    std::array<TensorId, 2> place, share;
  };
  Taps taps(const Axis& axis, const Shape& shape) {
    const Samples samples = samples_along(axis);
    const TensorId first = plain(OpKind::Floor, {samples.place});
    const TensorId next =
        plain(OpKind::Minimum, {two(OpKind::Add, first, number(1)), number(axis.extent - 1)});
    const TensorId rest = two(OpKind::Sub, samples.place, first);
    const auto counted = [&](TensorId share) {
      return in_.reshape(two(OpKind::Mul, share, samples.counts), shape);
    };
    return {{in_.reshape(first, shape), in_.reshape(next, shape)},
            {counted(two(OpKind::Sub, number(1), rest)), counted(rest)}};
  }

  // The largest of all weighted pixels, before they are added up: as onnxruntime has it.
  TensorId largest(TensorId pixels, const Axis& down, const Axis& across) {
    const int64_t height = down.bins * samples_, width = across.bins * samples_;
    const Taps y = taps(down, {regions_, height, 1}), x = taps(across, {regions_, 1, width});
    if (!in_.ok()) return {};
    const TensorId all = in_.reshape(pixels, {images_ * down.extent * across.extent, channels_});
    TensorId before;
    if (images_ > 1) {
      // Of an image that there is.
      const TensorId image = plain(
          OpKind::Minimum, {plain(OpKind::Maximum, {in_.cast(in_.operand(2), kFloat), number(0)}),
                            number(images_ - 1)});
      before = in_.reshape(two(OpKind::Mul, image, number(down.extent * across.extent)),
                           {regions_, 1, 1});
    }
    TensorId best;
    for (size_t i = 0; i < 4; ++i) {
      if (!in_.ok()) return {};
      TensorId at =
          two(OpKind::Add, two(OpKind::Mul, y.place[i / 2], number(across.extent)), x.place[i % 2]);
      if (before.valid()) at = two(OpKind::Add, at, before);
      const TensorId found = in_.emit_alike(
          OpKind::Gather, graph::GatherAttrs{0, 0},
          {all, in_.reshape(in_.cast(at, DataType::Int32), {regions_ * height * width})}, "pixel");
      const TensorId share = in_.reshape(two(OpKind::Mul, y.share[i / 2], x.share[i % 2]),
                                         {regions_ * height * width, 1});
      const TensorId value = two(OpKind::Mul, found, share);
      best = best.valid() ? plain(OpKind::Maximum, {best, value}) : value;
    }
    const Shape apart{regions_ * down.bins, samples_, across.bins, samples_, channels_};
    return in_.reshape(in_.emit(OpKind::ReduceMax, graph::ReduceAttrs{{1, 3}, false},
                                {in_.reshape(best, apart)}, kFloat, {}, "largest"),
                       {regions_, down.bins, across.bins, channels_});
  }

  Reader& in_;
  int64_t samples_ = 0, images_ = 1, channels_ = 1, regions_ = 1;
  float scale_ = 1;
  bool is_exact_ = true;  // half a pixel is taken off, and sizes are what they are
};

}  // namespace

void read_roi_align(Reader& in) {
  RegionAlign(in).read();
}

}  // namespace intarsia::onnx
