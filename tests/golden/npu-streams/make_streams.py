#!/usr/bin/env python3
"""Compiles networks and operators of the folders beside this one with Arm's compiler Vela, for the configurations of
Ethos-U55, U65 and U85, in each memory mode, for speed and for size. What the streams have to compute is recorded beside the
models. Needs two releases of Vela, each in a virtual environment of its own:

    python3 -m venv /tmp/vela-3.10 && /tmp/vela-3.10/bin/pip install -r requirements-vela-3.10.txt
    python3 -m venv /tmp/vela-5.2  && /tmp/vela-5.2/bin/pip install -r requirements-vela-5.2.txt
    python3 make_streams.py /tmp/vela-3.10/bin/vela /tmp/vela-5.2/bin/vela            # writes every stream
    python3 make_streams.py /tmp/vela-3.10/bin/vela /tmp/vela-5.2/bin/vela --check    # are the bytes the same?

The files are ethos-u/MODEL/CONFIGURATION-MEMORY_MODE-AIM.tflite for release 3.10, the same below ethos-u/vela-5.2, and below
ethos-u85 for the Ethos-U85, which release 5.2 alone compiles for.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent

# Model, configuration, memory mode, aim.
STREAMS = {
    "3.10.0": [
        ("separable_s8", "ethos-u55-32", "Sram_Only", "Performance"),
        ("separable_s8", "ethos-u55-64", "Shared_Sram", "Size"),
        ("separable_s8", "ethos-u55-128", "Shared_Sram", "Performance"),
        ("separable_s8", "ethos-u55-128", "Shared_Sram", "Size"),
        ("separable_s8", "ethos-u55-256", "Shared_Sram", "Performance"),
        ("separable_s8", "ethos-u65-256", "Dedicated_Sram", "Size"),
        ("separable_s8", "ethos-u65-512", "Dedicated_Sram", "Performance"),
        ("residual_s8", "ethos-u55-64", "Sram_Only", "Size"),
        ("residual_s8", "ethos-u55-256", "Shared_Sram", "Performance"),
        ("residual_s8", "ethos-u65-512", "Dedicated_Sram", "Performance"),
        ("autoencoder_s8", "ethos-u55-128", "Shared_Sram", "Performance"),
        ("autoencoder_s8", "ethos-u65-256", "Dedicated_Sram", "Performance"),
        ("lstm_s8", "ethos-u55-128", "Shared_Sram", "Performance"),
        ("separable_s16", "ethos-u55-128", "Shared_Sram", "Performance"),
        ("residual_s16", "ethos-u55-256", "Sram_Only", "Size"),
        ("leaky_relu_s16", "ethos-u55-128", "Shared_Sram", "Performance"),
        ("transpose_conv_s8", "ethos-u55-128", "Shared_Sram", "Performance"),
        ("sub_s16", "ethos-u65-256", "Dedicated_Sram", "Performance"),
        ("split_s8", "ethos-u55-128", "Shared_Sram", "Performance"),
        ("stream_goes_on_s8", "ethos-u55-128", "Shared_Sram", "Performance"),
    ],
    "5.2.0": [
        ("separable_s8", "ethos-u55-128", "Shared_Sram", "Performance"),
        ("separable_s8", "ethos-u65-512", "Dedicated_Sram", "Performance"),
        ("residual_s8", "ethos-u55-256", "Shared_Sram", "Size"),
        ("autoencoder_s8", "ethos-u55-64", "Sram_Only", "Performance"),
        ("separable_s8", "ethos-u85-256", "Shared_Sram", "Performance"),
        ("residual_s8", "ethos-u85-1024", "Dedicated_Sram_384KB", "Size"),
    ],
}


def folder_of(release, configuration):
    if "u85" in configuration:
        return pathlib.Path("ethos-u85")
    return pathlib.Path("ethos-u") / ("" if release == "3.10.0" else "vela-" + release.rpartition(".")[0])


def compiled(vela, model, configuration, mode, aim):
    source = GOLDEN / "models" / model / "model.tflite"
    if not source.exists():
        source = GOLDEN / "operators" / model / "model.tflite"
    systems = {"ethos-u55": "Ethos_U55_High_End_Embedded", "ethos-u65": "Ethos_U65_High_End",
               "ethos-u85": "Ethos_U85_SYS_DRAM_Mid" if "Dedicated" in mode else "Ethos_U85_SYS_Flash_High"}
    system = systems[configuration[:9]]
    with tempfile.TemporaryDirectory() as work:
        command = [vela, "--accelerator-config", configuration, "--config", "Arm/vela.ini", "--system-config", system,
                   "--memory-mode", mode, "--optimise", aim, "--output-dir", work, str(source)]
        outcome = subprocess.run(command, capture_output=True, text=True)
        made = pathlib.Path(work) / "model_vela.tflite"
        if outcome.returncode != 0 or not made.exists():
            raise SystemExit(f"{model} for {configuration}: {outcome.stdout}{outcome.stderr}")
        return made.read_bytes()


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    programs = {}
    for program in arguments:
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        programs[version] = program
    if set(programs) != set(STREAMS):
        raise SystemExit(f"needs Vela {' and '.join(STREAMS)}, has {' and '.join(programs) or 'none'}")
    wrong = 0
    if "--check" not in sys.argv:
        for family in ("ethos-u", "ethos-u85"):
            shutil.rmtree(HERE / family, ignore_errors=True)
    made = set()
    for release, streams in STREAMS.items():
        for model, configuration, mode, aim in streams:
            content = compiled(programs[release], model, configuration, mode, aim)
            path = HERE / folder_of(release, configuration) / model / f"{configuration}-{mode}-{aim}.tflite"
            made.add(path)
            if "--check" not in sys.argv:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            elif not path.exists() or path.read_bytes() != content:
                wrong += 1
                print(f"{path.relative_to(HERE)}: is not as this script makes it")
    for path in set(HERE.rglob("*.tflite")) - made:
        wrong += 1
        print(f"{path.relative_to(HERE)}: is not made by this script")
    print(f"{len(made)} streams, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
