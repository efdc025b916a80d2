"""Random operators and networks, computed by Intarsia and by TFLite Micro, or by LiteRT where TFLite Micro refuses the
model. Integers have to be equal bit for bit, floats to 4 parts in 100,000.

    scripts/differential --cases 2000                     # seed 1; prints a row for each operator
    scripts/differential --cases 500 --operator CONV_2D --operator ADD
    scripts/differential --cases 500 --networks --target cortex-m55+ethos-u55-128
    scripts/differential --cases 400 --larger 4 --target cortex-m4 --board mps2-an386   # firmware in an emulator
    scripts/differential --seed 1 --only 1234 --keep DIR  # one case again, its model and inputs into DIR

Needs the packages of tests/golden/requirements.txt and the Python package intarsia for the same interpreter. Exit status 1
when a result differs, 2 when nothing could be compared.
"""
import argparse
import collections
import functools
import json
import subprocess
import sys

import numpy as np
from outcome import difference, keep_case, run_ours
from summary import print_summary

PEERS = ("TFLite Micro", "LiteRT")


def case_of(seed, number, names, networks):
    from all_operators import draw
    from networks import draw_network
    from wide_networks import draw_wide_network
    rng = np.random.default_rng([seed, number])
    if networks:
        name = "network" if number % 2 else "wide network"
        model = draw_network(rng) if number % 2 else draw_wide_network(rng)
    else:
        name = names[int(rng.integers(len(names)))]
        model = draw(rng, name)
    return name, model, rng


def inputs_of(model, rng):
    from tflite_writer import KINDS
    graph = model.model.subgraphs[0]
    values = []
    for index in graph.inputs:
        tensor = graph.tensors[index]
        kind, shape = KINDS[tensor.type], tuple(tensor.shape)
        if kind is np.bool_:
            values.append(rng.integers(0, 2, shape).astype(kind))
        elif kind is np.float32:
            values.append(rng.uniform(1e-3 if hasattr(model, "least") else -3, 3, shape).astype(kind))
        else:
            info = np.iinfo(kind)
            least, most = getattr(model, "range", (getattr(model, "least", info.min), info.max))
            values.append(rng.integers(max(least, info.min), min(most, info.max) + 1, shape).astype(kind))
    return values


def by_tflite_micro(content, inputs, outputs):
    from tflite_micro.python.tflite_micro import runtime
    interpreter = runtime.Interpreter.from_bytes(content, arena_size=1 << 22)
    for i, value in enumerate(inputs):
        interpreter.set_input(value, i)
    interpreter.invoke()
    return [interpreter.get_output(i) for i in range(outputs)]


def by_litert(content, inputs, outputs, deployed=False):
    """Its reference kernels; the ones that it runs as a rule where a model asks for them."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
    kernels = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if deployed else OpResolverType.BUILTIN_REF
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=kernels)
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), inputs):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()][:outputs]


def by_peers(model, inputs):
    """(the first peer that takes it, its results); of none (None, why)."""
    content, outputs, reasons = model.bytes(), len(model.model.subgraphs[0].outputs), []
    deployed = functools.partial(by_litert, deployed=hasattr(model, "deployed"))
    for peer, run in zip(PEERS, (by_tflite_micro, deployed)):
        if peer not in getattr(model, "peers", PEERS):
            continue
        try:
            return peer, run(content, inputs, outputs)
        except Exception as error:  # each peer has errors of its own kind
            reasons.append(f"{peer}: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
    return None, "; ".join(reasons)


def compare(model, inputs, target):
    """(what came of it, in words)."""
    result, ours = run_ours(model.bytes(), inputs, target)
    if result:
        return result, ours
    peer, theirs = by_peers(model, inputs)
    if peer is None:
        return "no peer", theirs
    found = difference(ours, theirs)
    return ("differs from " + peer, found) if found else ("equals " + peer, "")


def work(options):
    """Cases of a range, a line of JSON each; before each its number, for whoever has to know which one ended the process."""
    def say(number, name, result, text):
        print(json.dumps({"number": number, "name": name, "result": result, "text": text}), flush=True)

    if options.board:
        from on_boards import cases_together
        for row in cases_together(options, case_of, inputs_of, by_peers, difference):
            say(*row)
        return
    for number in range(options.first, options.last):
        name, model, rng = case_of(options.seed, number, options.operator, options.networks)
        inputs = inputs_of(model, rng)
        print(json.dumps({"begins": number, "name": name}), flush=True)
        if options.keep:
            keep_case(options.keep, "model.tflite", model.bytes(), **{"in": inputs})
        say(number, name, *compare(model, inputs, options.target))


def supervise(options, arguments):
    """Runs the cases in processes of their own, since a peer may end the process it runs in."""
    rows = collections.defaultdict(collections.Counter)
    first, wrong = options.first, []
    texts = collections.Counter()
    while first < options.last:
        worker = subprocess.Popen([sys.executable, __file__, "--work", *arguments, "--first", str(first), "--last",
                                   str(options.last)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        begun = None
        for line in worker.stdout:
            if not line.startswith("{"):
                continue
            row = json.loads(line)
            if "begins" in row:
                begun = row
                continue
            first, begun = row["number"] + 1, None
            rows[row["name"]][row["result"]] += 1
            if row["result"].startswith(("differs", "fails")):
                wrong.append(f"case {row['number']} {row['name']}: {row['result']}: {row['text']}")
                print(wrong[-1], flush=True)
            elif row["text"]:
                texts[f"{row['name']}: {row['result']}: {row['text']}"] += 1
        worker.wait()
        if begun is not None:
            rows[begun["name"]]["peer ended"] += 1
            print(f"case {begun['begins']} {begun['name']}: the process ended", flush=True)
            first = begun["begins"] + 1
        elif worker.returncode != 0:
            raise SystemExit(f"the worker ended with status {worker.returncode}")
    results = print_summary(rows, texts, options.reasons)
    print(f"seed {options.seed}, cases {options.first} to {options.last - 1}: {len(wrong)} differ or fail")
    if not any(result.startswith(("equals", "differs", "fails")) for result in results):
        return 2
    return 1 if wrong else 0


def main():
    from all_operators import OPERATORS, Draw
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="one case")
    parser.add_argument("--operator", action="append", choices=sorted(OPERATORS), help="only these; all without it")
    parser.add_argument("--networks", action="store_true", help="networks in place of single operators")
    parser.add_argument("--target", default="", help="execute the model as compiled for this target, in place of the reference")
    parser.add_argument("--board", default="", help="with --target: as firmware in this board's emulator, many cases in one")
    parser.add_argument("--together", type=int, default=40, help="with --board: how many cases are one program")
    parser.add_argument("--larger", type=int, default=1, help="extents are up to this many times as large")
    parser.add_argument("--keep", default="", help="with --only: a folder for the model and its inputs")
    parser.add_argument("--reasons", type=int, default=20, help="how many reasons of refusals are printed")
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--last", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.keep and options.only is None:
        parser.error("--keep is for one case: --only N")
    if options.board and not options.target:
        parser.error("--board is for a target: --target cortex-m4 --board mps2-an386")
    Draw.larger = options.larger
    if options.only is not None:
        options.first, options.last = (options.only, options.only + 1) if not options.work else (options.first, options.last)
    elif options.last is None:
        options.last = options.first + options.cases
    options.operator = sorted(options.operator or OPERATORS)
    if options.work:
        work(options)
        return 0
    return supervise(options, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
