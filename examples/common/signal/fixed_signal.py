"""The arithmetic of fixed_fft.c, fixed_log2.c and mel_bands.c in numpy, bit for bit, over many frames at once: what the
training scripts compute features with, so that a network is trained on what the device will show it, and what the
recorded results of the examples are made from."""
import math

import numpy as np

CIRCLE, PIECES = 512, 64
SINE = np.array([round(2**30 * math.sin(2 * math.pi * k / CIRCLE)) for k in range(CIRCLE * 3 // 4)], np.int64)
LOG2 = np.array([round(65536 * math.log2(1 + k / PIECES)) for k in range(PIECES + 1)], np.int64)


def cosine(k):
    return SINE[k + CIRCLE // 4]


def high(product, shift):
    return (product + (1 << (shift - 1))) >> shift


def complex_fft(re, im, direction, halve):
    """Along the last axis."""
    points = re.shape[-1]
    bits = points.bit_length() - 1
    order = np.array([int(f"{i:0{bits}b}"[::-1], 2) for i in range(points)])
    re, im = re[..., order], im[..., order]
    span = 1
    while span < points:
        k = np.arange(span) * (CIRCLE // 2 // span)
        c, s = cosine(k), direction * SINE[k]
        pairs = (*re.shape[:-1], points // (2 * span), 2, span)
        re, im = re.reshape(pairs), im.reshape(pairs)
        a_re, a_im, b_re, b_im = re[..., 0, :], im[..., 0, :], re[..., 1, :], im[..., 1, :]
        turned_re = high(b_re * c - b_im * s, 30 + halve)
        turned_im = high(b_re * s + b_im * c, 30 + halve)
        a_re, a_im = a_re >> halve, a_im >> halve
        flat = (*pairs[:-3], points)
        re = np.stack([a_re + turned_re, a_re - turned_re], axis=-2).reshape(flat)
        im = np.stack([a_im + turned_im, a_im - turned_im], axis=-2).reshape(flat)
        span *= 2
    return re, im


def rfft(x):
    """[..., N] -> the real and the imaginary parts of bins 0 to N/2, divided by N."""
    x = np.asarray(x, np.int64)
    size = x.shape[-1]
    half = size // 2
    re, im = complex_fft(x[..., 0::2], x[..., 1::2], -1, 1)
    out_re = np.zeros((*x.shape[:-1], half + 1), np.int64)
    out_im = np.zeros_like(out_re)
    out_re[..., 0] = (re[..., 0] >> 1) + (im[..., 0] >> 1)
    out_re[..., half] = (re[..., 0] >> 1) - (im[..., 0] >> 1)
    k = np.arange(1, half // 2 + 1)
    a_re, a_im, b_re, b_im = re[..., k] >> 1, im[..., k] >> 1, re[..., half - k] >> 1, im[..., half - k] >> 1
    even_re, even_im, odd_re, odd_im = a_re + b_re, a_im - b_im, a_im + b_im, b_re - a_re
    c, s = cosine(k * (CIRCLE // size)), SINE[k * (CIRCLE // size)]
    turned_re = high(odd_re * c + odd_im * s, 31)
    turned_im = high(odd_im * c - odd_re * s, 31)
    # The middle bin pairs with itself: what the C leaves there is the first of the two.
    out_re[..., half - k], out_im[..., half - k] = (even_re >> 1) - turned_re, turned_im - (even_im >> 1)
    out_re[..., k], out_im[..., k] = (even_re >> 1) + turned_re, (even_im >> 1) + turned_im
    return out_re, out_im


def irfft(re, im):
    """Bins 0 to N/2 -> [..., N], without scaling."""
    half = re.shape[-1] - 1
    z_re, z_im = np.zeros((*re.shape[:-1], half), np.int64), np.zeros((*re.shape[:-1], half), np.int64)
    z_re[..., 0], z_im[..., 0] = re[..., 0] + re[..., half], re[..., 0] - re[..., half]
    k = np.arange(1, half // 2 + 1)
    a_re, a_im, b_re, b_im = re[..., k], im[..., k], re[..., half - k], im[..., half - k]
    even_re, even_im, turned_re, turned_im = a_re + b_re, a_im - b_im, a_re - b_re, a_im + b_im
    c, s = cosine(k * (CIRCLE // 2 // half)), SINE[k * (CIRCLE // 2 // half)]
    odd_re = high(turned_re * c - turned_im * s, 30)
    odd_im = high(turned_im * c + turned_re * s, 30)
    z_re[..., half - k], z_im[..., half - k] = even_re + odd_im, odd_re - even_im
    z_re[..., k], z_im[..., k] = even_re - odd_im, even_im + odd_re
    z_re, z_im = complex_fft(z_re, z_im, 1, 0)
    return np.stack([z_re, z_im], axis=-1).reshape(*re.shape[:-1], 2 * half)


def log2_q16(value):
    value = np.asarray(value, np.uint64)
    top = np.zeros(value.shape, np.int64)
    rest = value.copy()
    for step in (32, 16, 8, 4, 2, 1):
        more = rest >> np.uint64(step) > 0
        top += np.where(more, step, 0)
        rest = np.where(more, rest >> np.uint64(step), rest)
    fraction = ((value << (63 - top).astype(np.uint64)) >> np.uint64(31)).astype(np.int64) & 0xFFFFFFFF
    piece, place = fraction >> 26, fraction >> 10 & 0xFFFF
    result = top * 65536 + LOG2[piece] + ((LOG2[piece + 1] - LOG2[piece]) * place >> 16)
    return np.where(value == 0, 0, result)


def centibel(numerator, denominator):
    return int(log2_q16(numerator) - log2_q16(denominator)) * 77064 >> 24


class MelBands:
    """`count` triangular bands between two frequencies, of a transform of `size` samples at `rate`."""

    def __init__(self, count, size, rate, low, high_end):
        def mel(f):
            return 2595 * math.log10(1 + f / 700)

        points = [mel(low) + (mel(high_end) - mel(low)) * i / (count + 1) for i in range(count + 2)]
        # A centre lies on a bin, and every band has one at least.
        self.edges = [round(700 * (10 ** (p / 2595) - 1) * size / rate) for p in points]
        for i in range(1, len(self.edges)):
            self.edges[i] = max(self.edges[i], self.edges[i - 1] + 1)
        if self.edges[-1] > size // 2:
            raise SystemExit(f"{count} bands do not fit into {size // 2} bins")
        self.count = count
        self.rising = []
        for a, b in zip(self.edges, self.edges[1:]):
            self.rising += [round(4096 * (k - a) / (b - a)) for k in range(a, b)]

    def energies(self, re, im):
        power = (re * re + im * im) >> 12
        result = np.zeros((*re.shape[:-1], self.count), np.int64)
        rising = np.array(self.rising, np.int64)
        for piece in range(self.count + 1):
            a, b = self.edges[piece], self.edges[piece + 1]
            up = (power[..., a:b] * rising[a - self.edges[0]:b - self.edges[0]]).sum(axis=-1)
            if piece < self.count:
                result[..., piece] += up
            if piece > 0:
                result[..., piece - 1] += (power[..., a:b] << 12).sum(axis=-1) - up
        return result


    def gains(self, gain, size):
        """[frames, count] in Q8 -> a factor in Q20 for each bin 0 to size / 2."""
        gain = gain.astype(np.int64)
        factor = np.zeros((*gain.shape[:-1], size // 2 + 1), np.int64)
        factor[..., :self.edges[1]] = gain[..., :1] << 12
        factor[..., self.edges[self.count]:] = gain[..., -1:] << 12
        for piece in range(1, self.count):
            for k in range(self.edges[piece], self.edges[piece + 1]):
                up = self.rising[k - self.edges[0]]
                factor[..., k] = gain[..., piece] * up + gain[..., piece - 1] * (4096 - up)
        return factor


def hann(size):
    """Q15."""
    return np.array([round(32767 * 0.5 * (1 - np.cos(2 * np.pi * (i + 0.5) / size))) for i in range(size)], np.int64)


def log_mel(frames, window, bands, centre, step):
    """Whole frames of samples -> int8 features, as log_mel.c with a zero point of 0."""
    logarithm = log2_q16(bands.energies(*rfft(frames.astype(np.int64) * window)))
    return np.clip((logarithm - centre * 65536 + step // 2) // step, -128, 127).astype(np.int8)


def table_text(declaration, comment, values):
    lines = [f"/* {comment} */", f"{declaration}[{len(values)}] = {{"]
    for i in range(0, len(values), 12):
        lines.append("    " + ", ".join(str(int(value)) for value in values[i:i + 12]) + ",")
    lines[-1] = lines[-1][:-1] + "};"
    return "\n".join(lines) + "\n"
