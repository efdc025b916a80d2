#!/usr/bin/env python3
"""Makes the keyword example: words of a synthetic voice, the model, two recordings, and what the firmware has to print.

    train.py            # trains (some minutes) and writes the files beside this script
    train.py --check    # makes them again elsewhere: are the bytes the same?

The recordings are of voices that took no part in training. Needs the packages of requirements.txt.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common" / "training"))

from network import (Average, Conv, Dense, Depthwise, Quantiser, Reference, forward, run_script,  # noqa: E402
                     train_classifier)
import numpy as np  # noqa: E402

import fixed_signal  # noqa: E402
from speech import NOISE, RATE, VOICED, VOWELS, background, say  # noqa: E402

SEED = 5
KEYWORDS = {"mellow": "melo", "sunny": "sani"}
OTHERS = ["solo", "lasi", "nimo", "simi", "nela", "lomi", "sunu", "home", "melani", "hani", "mela", "salo", "fani",
          "meli"]
CLASSES = ["noise", "other", *KEYWORDS]

# What main.c and features.c know too, through features_tables.h.
WINDOW, HOP, BANDS, FRAMES = 512, 320, 32, 49
CENTRE, OCTAVES = 41, 4  # a feature is (log2 of a band's energy - CENTRE) / OCTAVES
SCALE = 0.03
FRAMES_PER_RUN, SMOOTHED, REFRACTORY = 4, 4, 10

MEL = fixed_signal.MelBands(BANDS, WINDOW, RATE, 80, 7600)
HANN = fixed_signal.hann(WINDOW)


def features(samples):
    """int16 samples -> int8 features [frames, BANDS], the arithmetic of features.c."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, WINDOW)[::HOP]
    return fixed_signal.log_mel(frames, HANN, MEL, CENTRE, int(np.float32(SCALE) * OCTAVES * 65536 + 0.5))


# ---- data ----


def other_word(rng):
    """A word that is no keyword, from the list or at random."""
    while True:
        if rng.random() < 0.5:
            word = OTHERS[rng.integers(len(OTHERS))]
        else:
            consonants = [p for p in (*VOICED, *NOISE) if p not in VOWELS]
            word = "".join(consonants[rng.integers(len(consonants))] + VOWELS[rng.integers(len(VOWELS))]
                           for _ in range(rng.integers(1, 4)))
        if word not in KEYWORDS.values():
            return word


def to_samples(x):
    return np.clip(np.round(x), -32768, 32767).astype(np.int16)


def windows(rng, count):
    """(features [count, FRAMES, BANDS], classes): a word that lies in the window, or is cut by its end, on noise."""
    length = (FRAMES - 1) * HOP + WINDOW
    pool = {k: [say(k, rng) for _ in range(220)] for k in KEYWORDS.values()}
    others = [say(other_word(rng), rng) for _ in range(700)]
    x, labels = np.zeros((count, length)), np.zeros(count, np.int64)
    keywords = list(KEYWORDS.values())
    for i in range(count):
        kind = rng.random()
        level = 2 ** rng.uniform(10, 14.5)
        x[i] = background(rng, length) * level * 10 ** (-rng.uniform(12, 50) / 20)
        if kind < 0.12:
            continue
        chosen = rng.integers(len(keywords)) if kind < 0.65 else -1
        pick = pool[keywords[chosen]] if chosen >= 0 else others
        word = pick[rng.integers(len(pick))]
        if chosen < 0 or rng.random() < 0.75:
            start = rng.integers(0, max(1, length - len(word))) if len(word) < length else 0
            labels[i] = 2 + chosen if chosen >= 0 else 1
        else:  # less than six tenths of it inside: that is no keyword yet, or no longer
            seen = int(len(word) * rng.uniform(0.1, 0.6))
            start = length - seen if rng.random() < 0.5 else seen - len(word)
            labels[i] = 1
        a, b = max(start, 0), min(start + len(word), length)
        x[i, a:b] += level * word[a - start:b - start]
        if rng.random() < 0.5:  # a neighbour, a pause away
            word = others[rng.integers(len(others))]
            pause = int(rng.uniform(0.12, 0.4) * RATE)
            start = b + pause if rng.random() < 0.5 else a - pause - len(word)
            a, b = max(start, 0), min(start + len(word), length)
            if a < b:
                x[i, a:b] += level * rng.uniform(0.6, 1.2) * word[a - start:b - start]
    return np.concatenate([features_of_each(x[i:i + 100]) for i in range(0, count, 100)]), labels


def features_of_each(x):
    return np.stack([features(to_samples(row)) for row in x])


def recording(rng, words, decibel):
    """4.5 seconds with the words at even distances, on noise `decibel` below their peak."""
    x = background(rng, 72000) * 8000 * 10 ** (-decibel / 20)
    for i, word in enumerate(words):
        spoken = say(KEYWORDS.get(word, word), rng) * 8000
        start = 4000 + i * 17000
        x[start:start + len(spoken)] += spoken
    return to_samples(x)


# ---- network ----


def build(rng):
    return [Conv(rng, "stem", 8, 1, kernel=(5, 4), stride=2),
            Depthwise(rng, "block1_depthwise", 8, stride=2), Conv(rng, "block1_pointwise", 16, 8),
            Depthwise(rng, "block2_depthwise", 16, stride=2), Conv(rng, "block2_pointwise", 32, 16),
            Depthwise(rng, "block3_depthwise", 32), Conv(rng, "block3_pointwise", 32, 32),
            Average(), Dense(rng, "classifier", len(CLASSES), 32)]


def real(q):
    return (q.astype(np.float32) * np.float32(SCALE))[..., None]


def quantise(layers, calibration):
    made = Quantiser("keyword spotting on one second of log mel energies")
    x = made.input(real(calibration), "features", SCALE, 0)
    for layer in layers:
        x = made.layer(layer, x)
    return made.bytes(made.softmax(x, "scores"))


# ---- what the firmware computes and prints ----


def means(model, frames):
    """[(last frame, percent of each class)] of each run, with the integers of main.c and detector.c."""
    reference, history, made = Reference(model), [], []
    for last in range(FRAMES - 1, len(frames), FRAMES_PER_RUN):
        scores = reference.run(frames[last - FRAMES + 1:last + 1].reshape(1, FRAMES, BANDS, 1))[0].astype(int) + 128
        history = (history + [scores])[-SMOOTHED:]
        made.append((last, sum(history) * 100 // (256 * SMOOTHED)))  # before the history is full, less
    return made


def choose_threshold(model, rng, count=150):
    """The percentage at which as many keywords are missed as other words taken for one (the equal error rate), each said
    alone by voices made for this, in as much noise as the recordings have."""
    def highest(word):
        heard = means(model, features(recording(rng, [word], rng.uniform(22, 40))[:2 * RATE]))
        return max(int(mean[2:].max()) for _, mean in heard)

    wanted = np.array([highest(list(KEYWORDS)[i % len(KEYWORDS)]) for i in range(count)])
    others = np.array([highest(other_word(rng)) for _ in range(count)])
    missed, false = ([int(np.sum(wanted < t)) for t in range(101)], [int(np.sum(others >= t)) for t in range(101)])
    best = min(range(101), key=lambda t: (abs(missed[t] - false[t]), -t))
    print(f"threshold {best} %: {missed[best]} of {count} keywords missed, {false[best]} of {count} other words taken for one")
    return best


def listen(model, threshold, recordings):
    """Detections as main.c prints them."""
    lines = []
    for name, samples in recordings.items():
        frames = features(samples)
        quiet, found, runs = 0, 0, 0
        lines.append(f"recording {name}")
        for last, mean in means(model, frames):
            runs += 1
            quiet = max(quiet - 1, 0)
            best = 2 + int(np.argmax(mean[2:]))
            if mean[best] >= threshold and quiet == 0:
                hundredths = (last * HOP + WINDOW) * 100 // RATE
                lines.append(f"  {hundredths // 100}.{hundredths % 100:02d} s  {CLASSES[best]}  {mean[best]} %")
                found, quiet = found + 1, REFRACTORY
        lines.append(f"  {len(samples)} samples, {len(frames)} frames, {runs} runs of the network, {found} keywords")
    return "\n".join(lines) + "\n"


def header(threshold):
    text = "/* Made by train.py: what features are made of, and the names. */\n/* clang-format off */\n"
    text += "#ifndef SPOTTER_FEATURES_TABLES_H\n#define SPOTTER_FEATURES_TABLES_H\n\n#include <stdint.h>\n\nenum {\n"
    for name, value in (("SAMPLE_RATE", RATE), ("WINDOW_LOG2", WINDOW.bit_length() - 1), ("WINDOW", WINDOW),
                        ("HOP", HOP),
                        ("BANDS", BANDS), ("FRAMES", FRAMES), ("CENTRE_LOG2", CENTRE), ("OCTAVES", OCTAVES),
                        ("FRAMES_PER_RUN", FRAMES_PER_RUN), ("SMOOTHED", SMOOTHED), ("THRESHOLD_PERCENT", threshold),
                        ("REFRACTORY_RUNS", REFRACTORY), ("CLASSES", len(CLASSES)), ("FIRST_KEYWORD", 2)):
        text += f"  SPOTTER_{name} = {value},\n"
    text = text[:-2] + "\n};\n\n"
    text += "static const char* const spotter_names[SPOTTER_CLASSES] = {%s};\n\n" % ", ".join(f'"{n}"' for n in CLASSES)
    table = fixed_signal.table_text
    text += table("static const int16_t spotter_window", "Q15 of (1 - cos(2 pi (i + 1/2) / 512)) / 2.", HANN) + "\n"
    text += table("static const uint16_t spotter_mel_edges", "mel_bands.h: bins of the centres.", MEL.edges) + "\n"
    text += table("static const uint16_t spotter_mel_rising", "mel_bands.h: weights in Q12.", MEL.rising)
    return text + "\n#endif\n"


def make(folder):
    rng = np.random.default_rng(SEED)
    x, labels = windows(rng, 6500)
    train, test = slice(0, 5800), slice(5800, None)
    layers = build(rng)
    train_classifier(layers, real(x[train]), labels[train], rng, epochs=24, rate=4e-3)
    model = quantise(layers, x[:400])
    exact = Reference(model)
    answers = np.array([np.argmax(exact.run(q.reshape(1, FRAMES, BANDS, 1))[0]) for q in x[test]])
    floats = np.argmax(forward(layers, real(x[test])), axis=-1)
    print(f"{len(answers)} windows of the test part: float {np.mean(floats == labels[test]):.2%}, "
          f"int8 {np.mean(answers == labels[test]):.2%}")
    recordings = {"quiet": recording(rng, ["mellow", "solo", "sunny", "lasi"], 40),
                  "noisy": recording(rng, ["sunny", "meli", "nimo", "mellow"], 22)}
    (folder / "keyword.tflite").write_bytes(model)
    threshold = choose_threshold(model, np.random.default_rng(SEED + 1))
    (folder / "features_tables.h").write_text(header(threshold))
    for name, samples in recordings.items():
        (folder / f"{name}.pcm").write_bytes(samples.astype("<i2").tobytes())
    (folder / "expected.txt").write_text(listen(model, threshold, recordings))
    print((folder / "expected.txt").read_text(), end="")


if __name__ == "__main__":
    run_script(make, HERE, sys.argv[1:])
