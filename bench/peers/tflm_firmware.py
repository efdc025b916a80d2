"""TFLite Micro with CMSIS-NN as firmware for our boards, so that one emulator with one model of the core counts both.

The peer is a checkout of tflite-micro whose Makefile has fetched what it needs:
  make -f tensorflow/lite/micro/tools/make/Makefile OPTIMIZED_KERNEL_DIR=cmsis_nn third_party_downloads
It is built here with the flags of that Makefile, and put into a package folder that `intarsia run` takes like our own.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess

from .machine import ROOT, Failure

HERE = pathlib.Path(__file__).resolve().parent
PLACE_OF_DOWNLOADS = "tensorflow/lite/micro/tools/make/downloads"
# What the resolver of the firmware knows. Which operators it has does not change what an inference costs.
OPERATORS = """Abs Add AddN ArgMax ArgMin AveragePool2D BatchMatMul BatchToSpaceNd BroadcastArgs BroadcastTo Cast Ceil Concatenation Conv2D
 Cos CumSum DepthToSpace DepthwiseConv2D Dequantize Div Elu Equal Exp ExpandDims Fill Floor FloorDiv FloorMod FullyConnected Gather
 GatherNd Greater GreaterEqual HardSwish L2Normalization L2Pool2D LeakyRelu Less LessEqual Log LogSoftmax LogicalAnd LogicalNot
 LogicalOr Logistic MaxPool2D Maximum Mean Minimum MirrorPad Mul Neg NotEqual Pack Pad PadV2 Prelu Quantize ReduceMax ReduceMin Relu
 Relu6 Reshape ResizeBilinear ResizeNearestNeighbor ReverseV2 Round Rsqrt SelectV2 Shape Sin Slice Softmax SpaceToBatchNd SpaceToDepth
 Split SplitV Sqrt Square SquaredDifference Squeeze StridedSlice Sub Sum Svdf Tanh Transpose TransposeConv
 UnidirectionalSequenceLSTM Unpack ZerosLike""".split()
COMMON = ["-ffunction-sections", "-fdata-sections", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables", "-funsigned-char",
          "-fomit-frame-pointer", "-mthumb", "-w", "-DNDEBUG", "-DTF_LITE_STATIC_MEMORY", "-DTF_LITE_DISABLE_X86_NEON",
          "-DTF_LITE_STRIP_ERROR_STRINGS", "-DTF_LITE_MCU_DEBUG_LOG", "-DCMSIS_NN", "-DKERNELS_OPTIMIZED_FOR_SPEED",
          "-DARM_NN_ENABLE_F16=0", "-DARM_NN_ENABLE_F32=0", "-Dcmsis_nn"]
CPP = ["-std=c++17", "-fno-rtti", "-fno-exceptions", "-fno-threadsafe-statics"]
# Beside the tests: what is for a host or another kind of processor.
LEFT_OUT = ("_test", "mock_", "fake_", "recording_", "test_helper", "debug_log", "micro_time", "system_setup")


def sources(checkout):
    micro, downloads = checkout / "tensorflow/lite/micro", checkout / PLACE_OF_DOWNLOADS
    for folder in ("cmsis", "cmsis_nn", "flatbuffers", "gemmlowp", "kissfft", "ruy"):
        if not (downloads / folder).is_dir():
            raise Failure(f"{downloads / folder} is not there: let the Makefile of tflite-micro fetch it (bench/README.md)")
    tuned = {path.name for path in (micro / "kernels/cmsis_nn").glob("*.cc")}
    found = [*micro.glob("*.cc"), *micro.glob("arena_allocator/*.cc"), *micro.glob("memory_planner/*.cc"), *micro.glob("tflite_bridge/*.cc"),
             *(path for path in micro.glob("kernels/*.cc") if path.name not in tuned), *micro.glob("kernels/cmsis_nn/*.cc"),
             *(checkout / "tensorflow/lite/core").rglob("*.cc"), *(checkout / "tensorflow/lite/kernels").rglob("*.cc"),
             *(checkout / "tensorflow/compiler").rglob("*.cc")]
    found = [path for path in found if not any(word in path.name for word in LEFT_OUT)]
    found += [path for path in (downloads / "cmsis_nn/Source").rglob("*.c")
              if not path.stem.endswith(("_f16", "_f32")) and path.name != "arm_nntables_flt.c"]
    return sorted(found)


def include_flags(checkout):
    downloads = checkout / PLACE_OF_DOWNLOADS
    folders = [checkout, downloads / "flatbuffers/include", downloads / "gemmlowp", downloads / "ruy", downloads / "kissfft",
               downloads / "cmsis", downloads / "cmsis_nn", downloads / "cmsis/CMSIS/Core/Include", downloads / "cmsis_nn/Include"]
    return [f"-I{folder}" for folder in folders]


def compile_one(command, source, target):
    if target.exists():
        return
    unfinished = target.with_suffix(f".{os.getpid()}.o")
    done = subprocess.run([*command, "-c", source, "-o", unfinished], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{source}:\n{done.stderr.strip()}")
    unfinished.rename(target)


def command_for(checkout, source, flags):
    cpp = source.suffix in (".cc", ".cpp")
    return ["arm-none-eabi-g++" if cpp else "arm-none-eabi-gcc", *flags, *COMMON, *(CPP if cpp else ["-std=c17"]), *include_flags(checkout)]


def revision_of(checkout):
    return subprocess.run(["git", "-C", checkout, "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout


def library(checkout, flags, folder):
    """The archive of all that the peer has, for a core, made once per set of flags; `folder` keeps it."""
    checkout = checkout.resolve()
    key = hashlib.sha256(repr((str(checkout), revision_of(checkout), flags, COMMON, CPP)).encode()).hexdigest()[:16]
    place = folder / key
    archive = place / "libtflm.a"
    if archive.exists():
        return archive
    place.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs, objects = [], []
        for index, source in enumerate(sources(checkout)):
            objects.append(place / f"{index:03}_{source.stem}.o")
            jobs.append(pool.submit(compile_one, command_for(checkout, source, flags), source, objects[-1]))
        for job in jobs:
            job.result()
    subprocess.run(["arm-none-eabi-ar", "rcs", archive, *objects], check=True)
    return archive


HEADER = """#ifndef TFLM_MODEL_H
#define TFLM_MODEL_H
#include <stdint.h>
struct tflm_model { char unused; };
struct tflm_model_resources { char unused; };
#define TFLM_MODEL_DEFINE_RESOURCES(name) static struct tflm_model_resources name
#define TFLM_MODEL_INPUT_COUNT {inputs}
#define TFLM_MODEL_OUTPUT_COUNT {outputs}
int32_t tflm_model_init(struct tflm_model* model, const struct tflm_model_resources* resources);
void* tflm_model_input(struct tflm_model* model, int32_t index);
const void* tflm_model_output(const struct tflm_model* model, int32_t index);
int32_t tflm_model_run(struct tflm_model* model);
#endif
"""


def board_copy(board, folder, libraries=(), zero_wait_states=False):
    """A copy of a board: its programs find libraries in these folders, and its memories answer in one cycle."""
    source = ROOT / "boards" / board  # `board` may be the path of another copy
    copy = folder / "boards" / source.name
    shutil.copytree(source, copy)
    description = json.loads((copy / "board.json").read_text())
    for core in [*description["cores"], *description.get("also_runs", [])]:
        core["flags"] += [f"-L{library}" for library in libraries]
    for memory in description["memories"] if zero_wait_states else []:
        memory.pop("cycles_per_access", None)
    (copy / "board.json").write_text(json.dumps(description, indent=2))
    return copy


def traced_operators(names):
    """C of a function for each operator. `intarsia run --count-cycles` counts code from one's lines on to the next one's by the name behind
    TFLM_MODEL_TRACE, as it does in the sources of our own packages."""
    lines = ["typedef int (*tflm_invoke)(void*, void*);"]
    for index, name in enumerate(names):
        lines += [f"static int operator_{index}(tflm_invoke invoke, void* context, void* node) {{",
                  "  const int status = invoke(context, node);", f'  __asm__ volatile("@ {index}");  /* no call at the end, and no two functions alike */', "  return status;",
                  f'  /* TFLM_MODEL_TRACE({index}, "{name}") */', "}"]
    table = ", ".join(f"operator_{index}" for index in range(len(names)))
    return "\n".join([*lines, f"int (*const tflm_operators[])(tflm_invoke, void*, void*) = {{{table}}};", ""])


def write_package(checkout, model, ours, board, optimise, folder, cache, arena, zero_wait_states=False, arena_memory=None, operators=()):
    """A folder for `intarsia run` and the board to run it on. `ours`: the folder of our own package of the same model; `arena_memory`:
    the board's, if not that of data; `operators`: names by which their cycles are told apart."""
    manifest = json.loads((ours / "manifest.json").read_text())
    flags = [*manifest["core_flags"], optimise]
    archive = library(checkout, flags, cache)
    package = folder / "package"
    package.mkdir(parents=True)
    program = HERE / "tflm_model.cpp"
    section = f".intarsia.{arena_memory}" if arena_memory else ".bss.tflm_arena"
    kinds = " ".join(f"OPERATOR({name})" for name in OPERATORS)
    compile_one([*command_for(checkout, program, flags), f'-DTFLM_MODEL_FILE="{model}"', f"-DTFLM_ARENA_BYTES={arena}",
                 f"-DTFLM_OPERATORS={kinds}", f"-DTFLM_TRACED={len(operators)}",
                 f'-DTFLM_ARENA_SECTION="{section}"'], program, package / "tflm_model.o")
    subprocess.run(["arm-none-eabi-ar", "rcs", package / "libtflm_model.a", package / "tflm_model.o"], check=True)
    sources = ["tflm_operators.c"] if operators else []
    for name in sources:
        (package / name).write_text(traced_operators(operators))
    manifest.update(model="tflm_model", target=f"TFLite Micro with CMSIS-NN, {optimise}", sources=sources, include_dirs=["."],
                    memories=[], link_libraries=["tflm_model", "tflm", "stdc++", "m"], files=[], has_state=False)
    (package / "manifest.json").write_text(json.dumps(manifest, indent=2))
    (package / "tflm_model.h").write_text(HEADER.replace("{inputs}", str(len(manifest["inputs"]))).replace("{outputs}", str(len(manifest["outputs"]))))
    return package, board_copy(board, folder, (package, archive.parent), zero_wait_states)
