#!/usr/bin/env python3
"""Makes the camera example: drawn scenes, the model, eight recorded frames, and what the firmware has to print.

    train.py            # trains (some minutes) and writes the files beside this script
    train.py --check    # makes them again elsewhere: are the bytes the same?

The recorded frames took no part in training. Needs the packages of requirements.txt.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common" / "training"))

from network import (Average, Conv, Dense, Depthwise, Quantiser, Reference, forward, run_script,  # noqa: E402
                     train_classifier)
import numpy as np  # noqa: E402

from scenes import HEIGHT, WIDTH, draw  # noqa: E402

SEED = 9
SIDE, CROP = 48, 120
SCALE, ZERO = np.float32(1 / 255), -128  # a pixel from 0 to 1
THRESHOLD_PERCENT = 80


def preprocess(frames):
    """uint16 [count, HEIGHT, WIDTH] -> int8 [count, SIDE, SIDE]: the arithmetic of camera.c."""
    left = (WIDTH - CROP) // 2
    pixel = frames[:, :, left:left + CROP].astype(np.int64)
    r, g, b = pixel >> 11, pixel >> 5 & 63, pixel & 31
    r, g, b = r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2
    luma = 77 * r + 150 * g + 29 * b
    # Five pixels become two; the middle one is halved between them.
    luma = luma.reshape(-1, CROP // 5, 5, CROP)
    luma = np.stack([2 * luma[:, :, 0] + 2 * luma[:, :, 1] + luma[:, :, 2],
                     luma[:, :, 2] + 2 * luma[:, :, 3] + 2 * luma[:, :, 4]], axis=2).reshape(-1, SIDE, CROP)
    luma = luma.reshape(-1, SIDE, CROP // 5, 5)
    luma = np.stack([2 * luma[..., 0] + 2 * luma[..., 1] + luma[..., 2],
                     luma[..., 2] + 2 * luma[..., 3] + 2 * luma[..., 4]], axis=-1).reshape(-1, SIDE, SIDE)
    multiplier = int(np.float32(2**24) / (np.float32(255 * 256 * 25) * SCALE) + np.float32(0.5))
    return np.clip(((luma * multiplier + (1 << 23)) >> 24) + ZERO, -128, 127).astype(np.int8)


def real(q):
    return ((q.astype(np.float32) - ZERO) * SCALE)[..., None]


def build(rng):
    return [Conv(rng, "stem", 16, 1, kernel=3, stride=2),
            Depthwise(rng, "block1_depthwise", 16, stride=2), Conv(rng, "block1_pointwise", 24, 16),
            Depthwise(rng, "block2_depthwise", 24), Conv(rng, "block2_pointwise", 24, 24),
            Depthwise(rng, "block3_depthwise", 24, stride=2), Conv(rng, "block3_pointwise", 40, 24),
            Depthwise(rng, "block4_depthwise", 40), Conv(rng, "block4_pointwise", 48, 40),
            Average(), Dense(rng, "classifier", 2, 48)]


def quantise(layers, calibration):
    made = Quantiser("is there a person? from 48x48 pixels of gray")
    x = made.input(real(calibration), "image", float(SCALE), ZERO)
    for layer in layers:
        x = made.layer(layer, x)
    return made.bytes(made.softmax(x, "scores"))


def make(folder):
    rng = np.random.default_rng(SEED)
    labels = rng.integers(0, 2, 6600)
    q = np.concatenate([preprocess(draw(rng, bool(label))[None]) for label in labels])
    train, test = slice(0, 6200), slice(6200, None)
    layers = build(rng)
    # A mirrored scene is a scene.
    both = np.concatenate([q[train], q[train][:, :, ::-1]])
    train_classifier(layers, real(both), np.tile(labels[train], 2), rng, epochs=22, rate=5e-3)
    model = quantise(layers, q[:300])
    exact = Reference(model)

    def score(image):
        return int(exact.run(image.reshape(1, SIDE, SIDE, 1))[0, 1]) + 128

    answers = np.array([score(image) >= 128 for image in q[test]])
    floats = np.argmax(forward(layers, real(q[test])), axis=-1)
    print(f"{len(answers)} scenes of the test part: float {np.mean(floats == labels[test]):.2%}, "
          f"int8 {np.mean(answers == labels[test]):.2%}")
    (folder / "person.tflite").write_bytes(model)
    (folder / "frames").mkdir(exist_ok=True)
    text, woken = "", 0
    for i, person in enumerate([0, 1, 0, 1, 1, 0, 1, 0]):
        frame = draw(rng, bool(person))
        name = f"{i}_{'person' if person else 'nobody'}.rgb565"
        (folder / "frames" / name).write_bytes(frame.astype("<u2").tobytes())
        percent = score(preprocess(frame[None])[0]) * 100 // 256
        woken += percent >= THRESHOLD_PERCENT
        text += f"{name}: person {percent} %, {'wake' if percent >= THRESHOLD_PERCENT else 'sleep on'}\n"
    (folder / "expected.txt").write_text(text + f"8 frames, woken by {woken}\n")
    print((folder / "expected.txt").read_text(), end="")


if __name__ == "__main__":
    run_script(make, HERE, sys.argv[1:])
