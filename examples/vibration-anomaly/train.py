#!/usr/bin/env python3
"""Makes the vibration example: an autoencoder of a healthy motor's spectra, the threshold, recordings, and what the firmware
has to print.

    train.py            # trains (a minute) and writes the files beside this script
    train.py --check    # makes them again elsewhere: are the bytes the same?

It has seen no fault: the network learns healthy spectra alone. Needs the packages of requirements.txt.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common" / "training"))

from network import Adam, Dense, Quantiser, Reference, forward, run_script  # noqa: E402
import numpy as np  # noqa: E402

import fixed_signal  # noqa: E402
from machine import RATE, healthy, imbalance, looseness, outer_race, to_samples  # noqa: E402

SEED = 11
WINDOW, BANDS = 512, 32
CENTRE, OCTAVES, SCALE = 34, 4, 0.03
SMOOTHED = 8  # windows
SECONDS = 4
FAULTS = {"imbalance": imbalance, "outer_race": outer_race, "looseness": looseness}

BAND_EDGES = fixed_signal.MelBands(BANDS, WINDOW, RATE, 10, RATE / 2 - 50)
HANN = fixed_signal.hann(WINDOW)


def features(samples):
    """int16 samples -> int8 [windows, BANDS]."""
    frames = samples[:len(samples) // WINDOW * WINDOW].reshape(-1, WINDOW)
    return fixed_signal.log_mel(frames, HANN, BAND_EDGES, CENTRE, int(np.float32(SCALE) * OCTAVES * 65536 + 0.5))


def healthy_features(rng, motors):
    return np.concatenate([features(to_samples(healthy(rng, SECONDS * RATE)[0])) for _ in range(motors)])


def real(q):
    return q.astype(np.float32) * np.float32(SCALE)


def train(rng, x, epochs=150, rate=3e-3, batch=64):
    """Through eight numbers and back; mean squared error, the rate along half a cosine."""
    layers = [Dense(rng, "narrow", 48, BANDS, relu=True), Dense(rng, "code", 8, 48, relu=True),
              Dense(rng, "widen", 48, 8, relu=True), Dense(rng, "again", BANDS, 48)]
    optimiser = Adam([p for layer in layers for p in layer.parameters()], 1e-4)
    steps, step = epochs * (len(x) // batch), 0
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for at in range(0, len(x) - batch + 1, batch):
            rows = x[order[at:at + batch]]
            gradient = (2 * (forward(layers, rows) - rows) / rows.size).astype(np.float32)
            for layer in reversed(layers):
                gradient = layer.backward(gradient)
            optimiser.step(rate * 0.5 * (1 + np.cos(np.pi * step / steps)))
            step += 1
    return layers


def quantise(layers, calibration):
    made = Quantiser("spectra of a healthy motor, through eight numbers and back")
    x = made.input(real(calibration), "spectrum", SCALE, 0)
    for layer in layers:
        x = made.layer(layer, x)
    return made.bytes(x), float(x["scale"]), x["zero"]


class Detector:
    """main.c and anomaly.c in the same integers."""

    def __init__(self, model, scale, zero):
        self.reference, self.zero = Reference(model), zero
        self.in_step, self.out_step = (int(np.float32(s) * 65536 + 0.5) for s in (SCALE, np.float32(scale)))

    def scores(self, samples):
        """Of each window: the mean of the last SMOOTHED mean squared differences, in Q16; before that many, less."""
        history, made = [], []
        for frame in features(samples):
            again = self.reference.run(frame.reshape(1, BANDS))[0].astype(np.int64)
            difference = frame.astype(np.int64) * self.in_step - (again - self.zero) * self.out_step
            history = (history + [int((difference**2).sum()) // BANDS >> 16])[-SMOOTHED:]
            made.append(sum(history) // SMOOTHED)
        return made


def recordings(rng):
    """Three seconds each of a motor that training has not seen; the faults begin after one."""
    made = {}
    for name in ("healthy", *FAULTS):
        x, angle, _ = healthy(rng, 3 * RATE)
        if name in FAULTS:
            begun = np.clip(np.arange(len(x)) / RATE - 1, 0, 1)  # and grow for one
            x = FAULTS[name](rng, x, angle, begun)
        made[name] = to_samples(x)
    return made


def listen(detector, threshold, made):
    text = ""
    for name, samples in made.items():
        scores = detector.scores(samples)
        text += f"recording {name}\n"
        alarm = next((i for i, score in enumerate(scores) if score > threshold), None)
        if alarm is not None:
            hundredths = (alarm + 1) * WINDOW * 100 // RATE
            text += f"  {hundredths // 100}.{hundredths % 100:02d} s  alarm\n"
        percent = max(scores) * 100 // threshold
        text += f"  {len(scores)} windows, at most {percent} % of the threshold\n"
    return text


def header(threshold):
    text = "/* Made by train.py: what features are made of, and the threshold. */\n/* clang-format off */\n"
    text += "#ifndef VIBRATION_TABLES_H\n#define VIBRATION_TABLES_H\n\n#include <stdint.h>\n\nenum {\n"
    values = {"SAMPLE_RATE": RATE, "WINDOW_LOG2": WINDOW.bit_length() - 1, "WINDOW": WINDOW, "BANDS": BANDS,
              "CENTRE_LOG2": CENTRE, "OCTAVES": OCTAVES, "SMOOTHED": SMOOTHED, "THRESHOLD_Q16": threshold}
    text += ",\n".join(f"  VIBRATION_{name} = {value}" for name, value in values.items()) + "\n};\n\n"
    table = fixed_signal.table_text
    text += table("static const int16_t vibration_window", "Q15 of (1 - cos(2 pi (i + 1/2) / 512)) / 2.", HANN) + "\n"
    text += table("static const uint16_t vibration_edges", "mel_bands.h: bins of the centres.", BAND_EDGES.edges) + "\n"
    text += table("static const uint16_t vibration_rising", "mel_bands.h: weights in Q12.", BAND_EDGES.rising)
    return text + "\n#endif\n"


def make(folder):
    rng = np.random.default_rng(SEED)
    x = healthy_features(rng, 400)
    layers = train(rng, real(x))
    model, scale, zero = quantise(layers, x[:2000])
    detector = Detector(model, scale, zero)
    # What motors of their own reach that are healthy too.
    highest = [max(detector.scores(to_samples(healthy(rng, SECONDS * RATE)[0]))) for _ in range(60)]
    threshold = max(highest)
    found = {name: np.mean([max(detector.scores(to_samples(fault(rng, *healthy(rng, RATE)[:2], 1.0)))) > threshold
                            for _ in range(40)]) for name, fault in FAULTS.items()}
    false = np.mean([max(detector.scores(to_samples(healthy(rng, SECONDS * RATE)[0]))) > threshold for _ in range(60)])
    print(f"threshold {threshold}; found " + ", ".join(f"{name} {share:.0%}" for name, share in found.items())
          + f"; healthy motors taken for damaged {false:.0%}")
    (folder / "motor.tflite").write_bytes(model)
    (folder / "vibration_tables.h").write_text(header(threshold))
    made = recordings(rng)
    for name, samples in made.items():
        (folder / f"{name}.pcm").write_bytes(samples.astype("<i2").tobytes())
    (folder / "expected.txt").write_text(listen(detector, threshold, made))
    print((folder / "expected.txt").read_text(), end="")


if __name__ == "__main__":
    run_script(make, HERE, sys.argv[1:])
