"""TFLite Micro's own operators: audio front ends, streams, detections. make_cases.py runs them."""
import numpy as np
from tflite_writer import Cases, Model, flexible, options

I8, I16, I32, U32, U64, F32, BOOL = np.int8, np.int16, np.int32, np.uint32, np.uint64, np.float32, np.bool_
INT16, FLOAT32 = 7, 0
CASES = case = Cases()


def custom(name, inputs, outputs, invocations=1, **options):
    """A model of one operator; inputs and outputs are pairs of shape and type."""
    model = Model()
    g = model.subgraph()
    given = [g.tensor(shape, kind) for shape, kind in inputs]
    made = [g.tensor(shape, kind) for shape, kind in outputs]
    g.op(name, given, made, custom=flexible(**options))
    g.inputs(*given)
    g.outputs(*made)
    model.invocations = invocations
    return model


def subtraction(g, signal, noise_free, noise):
    g.op("SignalFilterBankSpectralSubtraction", [signal], [noise_free, noise], custom=flexible(
        alternate_one_minus_smoothing=14746, alternate_smoothing=1638, clamping=True, min_signal_remaining=819,
        num_channels=10, one_minus_smoothing=15892, smoothing=492, smoothing_bits=10, spectral_subtraction_bits=14))


def bank(g, frequencies, channels):
    """Triangles that grow, as filter banks' do: weights rise in a band and fall in the next."""
    edges = np.unique(np.round(np.geomspace(3, frequencies - 1, channels + 2)).astype(int))
    assert len(edges) == channels + 2
    widths = np.diff(edges)
    rising = np.concatenate([np.arange(w) * 4096 // w for w in widths])
    starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
    return [g.constant(values, I16) for values in (rising, 4096 - rising, edges[:-1], starts, widths)]


def front_end(results):
    """Samples to the logarithms of ten channels, as the front end of a keyword spotter does; three frames."""
    model = Model()
    g = model.subgraph()
    samples, channels, length = 120, 10, 128
    ids = {"samples": g.tensor([samples], I16)}

    def op(name, inputs, outputs, **options):
        for key, (shape, kind) in outputs.items():
            ids[key] = g.tensor(shape, kind, name=key)
        g.op(name, [ids[i] if isinstance(i, str) else i for i in inputs], [ids[o] for o in outputs],
             custom=flexible(**options))

    window = np.round(4096 * np.sin(np.pi * (np.arange(samples) + 0.5) / samples) ** 2)
    op("SignalWindow", ["samples", g.constant(window, I16)], {"windowed": ([samples], I16)}, shift=12)
    op("SignalFftAutoScale", ["windowed"], {"scaled": ([samples], I16), "bits": ([], I32)})
    op("SignalRfft", ["scaled"], {"spectrum": ([length + 2], I16)}, T=INT16, fft_length=length)
    op("SignalEnergy", ["spectrum"], {"energy": ([length // 2 + 1], U32)}, end_index=length // 2 + 1, start_index=0)
    op("SignalFilterBank", ["energy", *bank(g, length // 2, channels)], {"bands": ([channels], U64)},
       num_channels=channels)
    op("SignalFilterBankSquareRoot", ["bands", "bits"], {"roots": ([channels], U32)})
    ids["clean"], ids["noise"] = g.tensor([channels], U32), g.tensor([channels], U32)
    subtraction(g, ids["roots"], ids["clean"], ids["noise"])
    gains = np.random.default_rng(5).integers(0, 2000, 125)
    op("SignalPCAN", ["clean", "noise", g.constant(gains, I16)], {"gained": ([channels], U32)}, snr_shift=6)
    op("SignalFilterBankLog", ["gained"], {"logs": ([channels], I16)}, input_correction_bits=3, output_scale=1600)
    g.inputs(ids["samples"])
    g.outputs(*(ids[r] for r in results))
    model.invocations = 3
    return model


@case
def signal_front_end():
    return front_end(["logs", "noise"])


@case
def signal_front_end_spectrum():
    return front_end(["spectrum", "energy", "roots"])


def encoded(g, indices, tables, axis=15):
    """Indices of 3 bits and the tables that they are for: what TFLM_DECODE makes a constant of."""
    bits = "".join(f"{i:03b}" for i in np.ravel(indices))
    packed = np.packbits([int(b) for b in bits])
    header = np.array([0, 1, 0, 0, 1, axis << 4 | 3, np.shape(tables)[-1]] + [0] * 9, np.uint8)
    rest = np.frombuffer(np.ascontiguousarray(tables).tobytes(), np.uint8)
    return g.constant(packed, np.uint8), g.constant(np.concatenate([header, rest]), np.uint8)


def pruned(g, values, zeros):
    """A bit for each element that is no zero point, and these elements."""
    kept = values != zeros
    header = np.array([2, 1, 0, 0, 1] + [0] * 11, np.uint8)
    rest = np.frombuffer(np.ascontiguousarray(values[kept]).tobytes(), np.uint8)
    return g.constant(np.packbits(kept.ravel()), np.uint8), g.constant(np.concatenate([header, rest]), np.uint8)


def code_words(values):
    """Prefix codes: of the k-th most frequent value k ones and a zero, up to seven; all others have seven ones and eight bits."""
    found, counts = np.unique(values, return_counts=True)
    order = found[np.argsort(-counts, kind="stable")]
    return {int(v): "1" * k + "0" if k < 7 else "1" * 7 + f"{int(v) & 255:08b}" for k, v in enumerate(order)}


def huffman(g, values, wide=False):
    """Looked up first are three bits, then four, then eight."""
    codes = code_words(values)
    short = {code: value for value, code in codes.items() if len(code) <= 7}
    rest = 27 if wide else 11

    def found(value, used):
        return 1 << (rest + 4) | used << rest | value & ((1 << rest) - 1) & (0xffff if wide else 0xff)

    def at(prefix, count, level):
        """The entries for all `count` bits behind the prefix."""
        entries = []
        for bits in (f"{i:0{count}b}" for i in range(1 << count)):
            code = next((c for c in short if (prefix + bits).startswith(c) and len(c) > len(prefix)), None)
            if code:
                entries.append(found(short[code], len(code) - len(prefix)))
            elif level < 2:
                entries.append(None)  # all ones: the next table
            else:
                entries.append(found(int(np.int8(np.uint8(int(bits, 2)))), 8))
        return entries

    first, second, third = at("", 3, 0), at("111", 4, 1), at("1" * 7, 8, 2)
    table = first + second + third
    table[7] = 3 << rest | (8 - 7)  # four bits more, in the second table
    table[8 + 15] = 7 << rest | (24 - 23)
    header = np.array([1, 1, 0, 0, 1, 2 << 4 | wide] + [0] * 10, np.uint8)
    behind = np.frombuffer(np.array(table, np.uint32 if wide else np.uint16).tobytes(), np.uint8)
    bits = [int(b) for v in np.ravel(values) for b in codes[int(v)]]
    packed = np.packbits(bits + [0] * (-len(bits) % 32))  # whole words are read
    return g.constant(np.append(packed, np.zeros(4, np.uint8)), np.uint8), g.constant(np.concatenate([header, behind]), np.uint8)


@case
def decode_pruned_and_huffman():
    """Weights of which most are zero, and weights of which few values are frequent."""
    rng = np.random.default_rng(18)
    model = Model()
    g = model.subgraph()
    x, y, z = g.tensor([1, 9], I8, 0.05, 3), g.tensor([1, 6], I8, 0.2, -5), g.tensor([1, 5], I8, 0.3, 7)
    first = rng.integers(-127, 128, (6, 9)) * (rng.random((6, 9)) < 0.3)
    second = np.where(rng.random((5, 6)) < 0.8, rng.integers(-4, 4, (5, 6)), rng.integers(-127, 128, (5, 6)))
    third = np.where(rng.random((5, 5)) < 0.8, rng.integers(-2, 5, (5, 5)), rng.integers(-127, 128, (5, 5)))
    weights = [g.tensor([6, 9], I8, rng.uniform(0.01, 0.03, 6).astype(F32), 0), g.tensor([5, 6], I8, 0.03, 0),
               g.tensor([5, 5], I8, 0.02, 0)]
    last = g.tensor([1, 5], I8, 0.4, 1)
    g.op("TFLM_DECODE", [*pruned(g, first.astype(I8), 0), *huffman(g, second.astype(I8)), *huffman(g, third.astype(I8), True)],
         weights, custom=b"")
    dense = options("FullyConnectedOptions", fusedActivationFunction=0)
    for given, w, made in ((x, 0, y), (y, 1, z), (z, 2, last)):
        g.op("FULLY_CONNECTED", [given, weights[w], -1], [made], dense, 4)
    g.inputs(x)
    g.outputs(last)
    return model


@case
def decode_weights():
    """Tables for each channel, as where there are scales for each, and one for all."""
    rng = np.random.default_rng(8)
    model = Model()
    g = model.subgraph()
    x, y, z = g.tensor([1, 5, 4, 3], I8, 0.05, 3), g.tensor([1, 5, 4, 6], I8, 0.4, -5), g.tensor([1, 5, 4, 6], I8, 0.9, 7)
    scales = rng.uniform(0.01, 0.03, 6).astype(F32)
    weights, depthwise = g.tensor([6, 2, 2, 3], I8, scales, 0), g.tensor([1, 3, 3, 6], I8, 0.02, 0)
    bias = g.tensor([6], I32, scales * F32(0.05), 0)
    g.op("TFLM_DECODE", [*encoded(g, rng.integers(0, 8, 72), rng.integers(-127, 128, (6, 8)).astype(I8), 0),
                         *encoded(g, rng.integers(0, 5, 6), rng.integers(-900, 900, (6, 5)).astype(I32), 0)], [weights, bias],
         custom=b"")
    g.op("TFLM_DECODE", encoded(g, rng.integers(0, 7, 54), rng.integers(-127, 128, 7).astype(I8)), [depthwise], custom=b"")
    g.op("CONV_2D", [x, weights, bias], [y], options("Conv2DOptions", padding=0, strideH=1, strideW=1, dilationHFactor=1,
                                                     dilationWFactor=1), 3)
    g.op("DEPTHWISE_CONV_2D", [y, depthwise, g.constant(np.zeros(6), I32, scale=0.008)], [z], options(
        "DepthwiseConv2DOptions", padding=0, strideH=1, strideW=1, depthMultiplier=1, dilationHFactor=1, dilationWFactor=1), 3)
    g.inputs(x)
    g.outputs(z)
    return model


@case
def signal_rfft_f32():
    """480 samples of a frame of 512, as front ends of floats transform them."""
    return custom("SignalRfft", [([2, 480], F32)], [([2, 514], F32)], T=FLOAT32, fft_length=512)


@case
def signal_rfft_f32_short():
    return custom("SignalRfft", [([3, 16], F32)], [([3, 18], F32)], T=FLOAT32, fft_length=16)


@case
def signal_irfft_f32():
    return custom("SignalIrfft", [([2, 130], F32)], [([2, 128], F32)], T=FLOAT32, fft_length=128)


@case
def signal_irfft_f32_short():
    return custom("SignalIrfft", [([10], F32)], [([8], F32)], T=FLOAT32, fft_length=8)


@case
def signal_subtraction_without_clamp():
    model = Model()
    g = model.subgraph()
    x, y, noise = g.tensor([10], U32), g.tensor([10], U32), g.tensor([10], U32)
    g.op("SignalFilterBankSpectralSubtraction", [x], [y, noise], custom=flexible(
        alternate_one_minus_smoothing=9000, alternate_smoothing=7384, clamping=False, min_signal_remaining=819,
        num_channels=10, one_minus_smoothing=15892, smoothing=492, smoothing_bits=3, spectral_subtraction_bits=14))
    g.inputs(x)
    g.outputs(y, noise)
    model.invocations = 4
    return model


@case
def signal_log():
    return custom("SignalFilterBankLog", [([24], U32)], [([24], I16)], input_correction_bits=0, output_scale=1000)


@case
def signal_rfft_of_64():
    return custom("SignalRfft", [([2, 60], I16)], [([2, 66], I16)], T=INT16, fft_length=64)


@case
def signal_rfft_of_512():
    return custom("SignalRfft", [([512], I16)], [([514], I16)], T=INT16, fft_length=512)


@case
def signal_irfft_of_64():
    return custom("SignalIrfft", [([2, 66], I16)], [([2, 64], I16)], T=INT16, fft_length=64)


@case
def signal_irfft_of_512():
    return custom("SignalIrfft", [([514], I16)], [([512], I16)], T=INT16, fft_length=512)


@case
def signal_delay():
    return custom("SignalDelay", [([2, 4], I16)], [([2, 4], I16)], 4, delay_length=6)


@case
def signal_framer():
    return custom("SignalFramer", [([2, 6], I16)], [([2, 2, 7], I16), ([], BOOL)], 4, frame_size=7, frame_step=3,
                  prefill=False)


@case
def signal_framer_waits():
    return custom("SignalFramer", [([3], I16)], [([1, 6], I16), ([], BOOL)], 2, frame_size=6, frame_step=3,
                  prefill=False)


@case
def signal_framer_prefilled():
    return custom("SignalFramer", [([3], I16)], [([1, 7], I16), ([], BOOL)], 2, frame_size=7, frame_step=3,
                  prefill=True)


@case
def signal_stacker():
    return custom("SignalStacker", [([3], I16)], [([15], I16), ([], BOOL)], 6, num_channels=3, stacker_left_context=3,
                  stacker_right_context=1, stacker_step=2)


@case
def signal_stacker_repeats_first():
    return custom("SignalStacker", [([3], I16)], [([12], I16), ([], BOOL)], 1, num_channels=3, stacker_left_context=3,
                  stacker_right_context=0, stacker_step=1)


@case
def signal_overlap_add_s16():
    return custom("SignalOverlapAdd", [([2, 2, 7], I16)], [([2, 6], I16)], 3, T=INT16, frame_step=3)


@case
def signal_overlap_add_f32():
    return custom("SignalOverlapAdd", [([1, 7], F32)], [([3], F32)], 3, T=FLOAT32, frame_step=3)


def detections(**options):
    """Boxes around 24 anchors in a grid, which overlap."""
    model = Model()
    g = model.subgraph()
    count, classes = 24, 3
    rng = np.random.default_rng(11)
    anchors = np.stack([np.repeat(np.arange(4), 6) / 4 + 0.1, np.tile(np.arange(6), 4) / 6 + 0.1,
                        np.full(count, 0.4), np.full(count, 0.3)], 1)
    boxes, scores = g.tensor([1, count, 4], F32), g.tensor([1, count, classes + 1], F32)
    made = [g.tensor(shape, F32) for shape in ([1, 5, 4], [1, 5], [1, 5], [1])]
    g.op("TFLite_Detection_PostProcess", [boxes, scores, g.constant(anchors, F32)], made, custom=flexible(
        max_detections=5, max_classes_per_detection=1, num_classes=classes, nms_score_threshold=0.2,
        nms_iou_threshold=0.3, y_scale=10.0, x_scale=10.0, h_scale=5.0, w_scale=5.0, **options))
    g.inputs(boxes, scores)
    g.outputs(*made)
    model.values = [rng.uniform(-3, 3, (1, count, 4)).astype(F32),
                    rng.uniform(0, 1, (1, count, classes + 1)).astype(F32)]
    return model


@case
def detections_fast():
    return detections()


@case
def detections_by_class():
    return detections(use_regular_nms=True, detections_per_class=4)
