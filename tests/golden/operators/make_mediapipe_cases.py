#!/usr/bin/env python3
"""Makes the cases of this folder that only MediaPipe's runtime has operators for, and what it computes for them. Needs the packages of
../requirements.txt, and in MEDIAPIPE_PYTHON a Python that has mediapipe==0.10.14.

    python3 make_mediapipe_cases.py            # writes every case beside this file
    python3 make_mediapipe_cases.py --check    # makes them again elsewhere: are the bytes the same?
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tflite_writer import Cases, flexible, fresh, of_values, rng_of, run_script  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CASES = case = Cases()


def one(code, values, out, **fields):
    return of_values(code, [np.float32(value) for value in values], out, version=2, custom=flexible(**fields))


def matrix_of(x, y):
    return np.float32([[*x[:2], 0, x[2]], [*y[:2], 0, y[2]], [0, 0, 1, 0], [0, 0, 0, 1]]).reshape(1, 4, 4)


def landmark_matrix(name, left, right, target, subset=(3, 1, 4, 5, 9, 2, 6)):
    """An odd number of landmarks, one of them outside of the picture."""
    points = rng_of(name).uniform(-5, 60, (1, 12, 3))
    return one("Landmarks2TransformMatrix", [points], [1, 4, 4], subset_idxs=list(subset), left_rotation_idx=left,
               right_rotation_idx=right, target_rotation_radians=target, output_height=9, output_width=14, scale_x=1.5,
               scale_y=1.25)


@case
def landmarks_to_matrix():
    return landmark_matrix("landmarks_to_matrix", 0, 7, 0.0)


@case
def landmarks_to_matrix_turned():
    return landmark_matrix("landmarks_to_matrix_turned", 8, 3, 0.75)


@case
def landmarks_to_matrix_of_one_place():
    """The line between a landmark and itself has no direction."""
    return landmark_matrix("landmarks_to_matrix_of_one_place", 5, 5, 0.0)


@case
def transform_tensor():
    """A part that is turned, and reaches beyond the picture at two sides."""
    picture = rng_of("transform_tensor").uniform(-3, 3, (1, 7, 9, 3))
    return one("TransformTensorBilinear", [picture, matrix_of((0.9, -0.4, 1.3), (0.35, 0.8, -0.6))], [1, 6, 10, 3],
               output_height=6, output_width=10)


@case
def transform_tensor_as_it_is():
    """Every place is a pixel, to the last row and column."""
    picture = rng_of("transform_tensor_as_it_is").uniform(-3, 3, (1, 4, 5, 2))
    return one("TransformTensorBilinear", [picture, matrix_of((1, 0, 0), (0, 1, 0))], [1, 4, 5, 2], output_height=4,
               output_width=5)


@case
def transform_landmarks():
    points = rng_of("transform_landmarks").uniform(-3, 3, (1, 11, 2))
    return one("TransformLandmarks", [points, matrix_of((1.5, -0.25, 20), (0.3, 0.75, -8))], [1, 11, 2])


@case
def transform_landmarks_of_space():
    points = rng_of("transform_landmarks_of_space").uniform(-3, 3, (1, 5, 3))
    return one("TransformLandmarks", [points, matrix_of((0.5, 0.125, 2), (-0.3, 1.75, 4))], [1, 5, 3])


def make_case(folder, name):
    model = CASES[name]()
    folder = fresh(folder / name)
    content = model.bytes()
    (folder / "model.tflite").write_bytes(content)
    meta = {"reference": "MediaPipe", "inputs": [], "outputs": [{"file": "out0.bin", "type": "FLOAT32"}]}
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        (place / "model.tflite").write_bytes(content)
        inputs = []
        for i, values in enumerate(model.values):
            (folder / f"in{i}.bin").write_bytes(values.tobytes())
            meta["inputs"].append({"file": f"in{i}.bin", "type": "FLOAT32"})
            inputs.append(place / f"in{i}.npy")
            np.save(inputs[-1], values)
        subprocess.run([os.environ["MEDIAPIPE_PYTHON"], HERE / "run_mediapipe.py", place / "model.tflite", "1", *inputs],
                       check=True, stderr=subprocess.DEVNULL)
        (folder / "out0.bin").write_bytes(np.load(place / "out0.npy").tobytes())
    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n")


def make_all(folder):
    for name in CASES:
        make_case(folder, name)
    print(f"{len(CASES)} cases")


if __name__ == "__main__":
    run_script(make_all, HERE, sys.argv[1:])
