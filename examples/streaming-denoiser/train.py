#!/usr/bin/env python3
"""Makes the denoiser example: voices in noise, the recurrent network, a recording, and what the firmware has to print.

    train.py            # trains (some minutes) and writes the files beside this script
    train.py --check    # makes them again elsewhere: are the bytes the same?

The recording took no part in training. Needs the packages of requirements.txt.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common" / "training"))

from network import Adam, Dense, Lstm, Quantiser, Reference, run_script, sigmoid  # noqa: E402
import numpy as np  # noqa: E402

import fixed_signal  # noqa: E402
from speech import NOISE, RATE, VOICED, VOWELS, background, say  # noqa: E402

SEED = 3
WINDOW, HOP, BANDS, UNITS = 256, 128, 20, 32
CENTRE, OCTAVES, SCALE = 31, 4, np.float32(0.03)  # a feature is (log2 of a band's energy - CENTRE) / OCTAVES
SECONDS, STEPS = 4, 100

MEL = fixed_signal.MelBands(BANDS, WINDOW, RATE, 60, 7900)
# Its square and that of its neighbour half a window away add up to 1.
SINE = np.array([round(32767 * np.sin(np.pi * (i + 0.5) / WINDOW)) for i in range(WINDOW)], np.int64)


# ---- the arithmetic of noise_filter.c ----


def spectra(samples):
    """int16 [n * HOP] -> bins of every frame; the first frame is half silence."""
    padded = np.concatenate([np.zeros(HOP, np.int64), samples.astype(np.int64)])
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP]
    return fixed_signal.rfft((frames * SINE + 8) >> 4)


def features(re, im):
    logarithm = fixed_signal.log2_q16(MEL.energies(re, im))
    step = int(SCALE * OCTAVES * 65536 + np.float32(0.5))
    return np.clip((logarithm - CENTRE * 65536 + step // 2) // step, -128, 127).astype(np.int8)


def restore(re, im, gains):
    """Gains in Q8 -> int16 samples; those of a frame come one HOP after they went in."""
    factor = MEL.gains(gains, WINDOW)
    frames = fixed_signal.irfft((re * factor + (1 << 19)) >> 20, (im * factor + (1 << 19)) >> 20)
    frames = (frames * SINE + (1 << 14)) >> 15
    sums = frames[:, :HOP].copy()
    sums[1:] += frames[:-1, HOP:]
    return np.clip((sums + (1 << 10)) >> 11, -32768, 32767).astype(np.int16).reshape(-1)


# ---- data ----


def to_samples(x):
    return np.clip(np.round(x), -32768, 32767).astype(np.int16)


def talk(rng):
    """SECONDS of words with pauses between them, and noise, as the sum and as the voice alone."""
    count = SECONDS * RATE
    voice, at = np.zeros(count), int(rng.uniform(0.1, 0.5) * RATE)
    consonants = [p for p in (*VOICED, *NOISE) if p not in VOWELS]
    while at < count:
        word = "".join(consonants[rng.integers(len(consonants))] + VOWELS[rng.integers(len(VOWELS))]
                       for _ in range(rng.integers(1, 4)))
        spoken = say(word, rng)[:count - at]
        voice[at:at + len(spoken)] += spoken
        at += len(spoken) + int(rng.uniform(0.1, 0.5) * RATE)
    voice *= 2 ** rng.uniform(11.5, 14)
    power = np.sqrt((voice**2).mean())
    noise = background(rng, count) * power * 10 ** (-rng.uniform(-2, 14) / 20)
    return to_samples(voice), to_samples(voice + noise)


def example(rng):
    """Features, and the gains that leave each band the energy of its voice."""
    voice, noisy = talk(rng)
    of_noisy, of_voice = spectra(noisy), spectra(voice)
    energy, wanted = MEL.energies(*of_noisy), MEL.energies(*of_voice)
    return features(*of_noisy), np.sqrt(np.clip(wanted / np.maximum(energy, 1), 0, 1)).astype(np.float32)


# ---- network ----


def train(rng, x, wanted, epochs=40, batch=32, rate=6e-3):
    """Mean squared error of the gains."""
    lstm, dense = Lstm(rng, "lstm", UNITS, BANDS), Dense(rng, "gains_before", BANDS, UNITS)
    optimiser = Adam([*lstm.parameters(), *dense.parameters()], 1e-4)
    steps, step = epochs * (len(x) // batch), 0
    for epoch in range(epochs):
        order, loss = rng.permutation(len(x)), 0.0
        for at in range(0, len(x) - batch + 1, batch):
            pick = order[at:at + batch]
            gain = sigmoid(dense.forward(lstm.forward(x[pick])))
            error = gain - wanted[pick]
            loss += (error**2).mean()
            lstm.backward(dense.backward((error * gain * (1 - gain) * (2 / batch)).astype(np.float32)))
            optimiser.step(rate * 0.5 * (1 + np.cos(np.pi * step / steps)))
            # Within these, a gate's sum of products is scaled down to its 16 bits, which kernel functions of LSTM
            # layers ask for: the largest feature, 3.8, times the largest weight is less than 127 * 127 / 4096 = 3.9.
            np.clip(lstm.weights, -1, 1, out=lstm.weights)
            np.clip(lstm.recurrent, -3.8, 3.8, out=lstm.recurrent)
            step += 1
        if sys.stderr.isatty():
            print(f"\repoch {epoch + 1}/{epochs}  loss {loss / (len(x) // batch):.5f} ", end="", file=sys.stderr)
    print(f"mean squared error of the gains in the last epoch {loss / (len(x) // batch):.4f}")
    return lstm, dense


def quantise(lstm, dense, x):
    made = Quantiser("gains of bands against noise, one frame at a time; its state stays between runs")
    value = made.tensor(x[:, :1], "features", SCALE, 0)
    made.g.inputs(value["index"])
    value["real"] = x
    value = made.layer(dense, made.lstm(lstm, value))
    return made.bytes(made.logistic(value, "gains"))


# ---- what the firmware prints ----


def decibel(signal, difference):
    hundredths = fixed_signal.centibel(int((signal**2).sum()), int((difference**2).sum()))
    return hundredths


def text_of(hundredths):
    return f"{'-' if hundredths < 0 else ''}{abs(hundredths) // 100}.{abs(hundredths) % 100:02d} dB"


def listen(model, voice, noisy):
    re, im = spectra(noisy)
    reference = Reference(model)
    gains = np.array([reference.run(q.reshape(1, 1, BANDS)).reshape(-1).astype(int) + 128 for q in features(re, im)])
    out = restore(re, im, gains)
    # The output is one HOP late: its first HOP samples belong to the silence before the recording.
    clean, before, after = (x.astype(np.int64) for x in (voice[:-HOP], noisy[:-HOP], out[HOP:]))
    first, last = decibel(clean, before - clean), decibel(clean, after - clean)
    text = f"{len(gains)} frames of 8 ms, 0 deadlines missed\n"
    text += f"signal to noise {text_of(first)} before, {text_of(last)} after: {text_of(last - first)} less noise\n"
    return text, out


def header():
    text = "/* Made by train.py: windows and bands. */\n/* clang-format off */\n"
    text += "#ifndef NOISE_FILTER_TABLES_H\n#define NOISE_FILTER_TABLES_H\n\n#include <stdint.h>\n\nenum {\n"
    for name, value in (("SAMPLE_RATE", RATE), ("WINDOW_LOG2", WINDOW.bit_length() - 1), ("WINDOW", WINDOW),
                        ("HOP", HOP),
                        ("BANDS", BANDS), ("CENTRE_LOG2", CENTRE), ("OCTAVES", OCTAVES)):
        text += f"  NOISE_FILTER_{name} = {value},\n"
    text = text[:-2] + "\n};\n\n"
    table = fixed_signal.table_text
    text += table("static const int16_t noise_filter_window", "Q15 of sin(pi (i + 1/2) / 256).", SINE) + "\n"
    text += table("static const uint16_t noise_filter_mel_edges", "mel_bands.h: bins of the centres.", MEL.edges) + "\n"
    text += table("static const uint16_t noise_filter_mel_rising", "mel_bands.h: weights in Q12.", MEL.rising)
    return text + "\n#endif\n"


def make(folder):
    rng = np.random.default_rng(SEED)
    pairs = [example(rng) for _ in range(240)]
    whole = len(pairs[0][0]) // STEPS * STEPS
    x = np.concatenate([q[:whole].reshape(-1, STEPS, BANDS) for q, _ in pairs]).astype(np.float32) * SCALE
    wanted = np.concatenate([g[:whole].reshape(-1, STEPS, BANDS) for _, g in pairs])
    lstm, dense = train(rng, x, wanted)
    model = quantise(lstm, dense, x[:60])
    voice, noisy = talk(np.random.default_rng(SEED + 1))
    text, out = listen(model, voice, noisy)
    (folder / "denoiser.tflite").write_bytes(model)
    (folder / "noise_filter_tables.h").write_text(header())
    (folder / "voice.pcm").write_bytes(voice.astype("<i2").tobytes())
    (folder / "noisy.pcm").write_bytes(noisy.astype("<i2").tobytes())
    (folder / "expected.txt").write_text(text)
    print(text, end="")


if __name__ == "__main__":
    run_script(make, HERE, sys.argv[1:])
