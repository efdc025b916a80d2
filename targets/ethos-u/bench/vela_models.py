#!/usr/bin/env python3
"""Writes small quantised networks for vela_streams.py, and inputs for them: what streams of Vela are made of beyond plain
convolutions. Needs tensorflow.

  vela_models.py FOLDER [--only REGEX]
  vela_models.py FOLDER --of MODEL.tflite...     # folders like these for models that exist

Weights and inputs are random, with a seed of each network's own name. Outputs are left to vela_streams.py --golden.
"""
import argparse
import json
import os
import pathlib
import re
import sys
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

sys.dont_write_bytecode = True
from vela_networks import NETWORKS  # noqa: E402


def write(name, folder):
    function, shapes, bits = NETWORKS[name]
    seed = zlib.crc32(name.encode())
    tf.keras.utils.set_random_seed(seed)
    model = None

    def called(*tensors):
        return function(np.random.default_rng(seed), *tensors)

    if "lstm" in name:
        inputs = [tf.keras.Input(shape[1:], batch_size=shape[0]) for shape in shapes]
        model = tf.keras.Model(inputs, called(*inputs))
    if model is not None:
        converter = tf.lite.TFLiteConverter.from_keras_model(model)
    else:
        concrete = tf.function(called).get_concrete_function(*[tf.TensorSpec(shape, tf.float32) for shape in shapes])
        converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete])
    samples = [np.random.default_rng((seed, i, t)).normal(0, 1, shape).astype(np.float32)
               for i in range(8) for t, shape in enumerate(shapes)]
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: (samples[i:i + len(shapes)] for i in range(0, len(samples), len(shapes)))
    converter.target_spec.supported_ops = [
        tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8 if bits == 16 else tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    kind = {8: tf.int8, 16: tf.int16, "u8": tf.uint8}[bits]
    converter.inference_input_type = converter.inference_output_type = kind
    made = converter.convert()
    write_beside(made, seed + 99, folder)


def write_beside(made, seed, folder):
    """A model, random inputs for it, and what its outputs are called."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.tflite").write_bytes(made)
    net = tf.lite.Interpreter(model_content=made)
    rng = np.random.default_rng(seed)
    for sample in range(2):
        for t, about in enumerate(net.get_input_details()):
            kind = np.dtype(about["dtype"])
            values = (rng.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, about["shape"]) if kind.kind in "iu"
                      else rng.normal(0, 1, about["shape"]))
            values.astype(kind).tofile(folder / f"in{sample}_{t}.bin")
    (folder / "meta.json").write_text(json.dumps({"outputs": [about["name"] for about in net.get_output_details()]}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--of", nargs="+", type=pathlib.Path, default=[], metavar="MODEL")
    arguments = parser.parse_args()
    for path in arguments.of:
        write_beside(path.read_bytes(), zlib.crc32(path.stem.encode()), arguments.folder / path.stem)
    for name in NETWORKS if not arguments.of else ():
        if not re.search(arguments.only, name):
            continue
        try:
            write(name, arguments.folder / name)
        except Exception as error:  # what one release of the converter refuses another takes
            print(f"{name}: {type(error).__name__}: {str(error).strip().splitlines()[0][:150] if str(error).strip() else ''}")


if __name__ == "__main__":
    main()
