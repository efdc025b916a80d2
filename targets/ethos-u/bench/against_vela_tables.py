"""What against_vela.py prints of its figures, line by line: a plain table, and tables in Markdown."""
import math


def best(figures, key):
    values = [f[key] for f in figures if f and "error" not in f]
    return min(values) if values else None


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def plain_table(lines, velas):
    head = f"{'model':24} {'npu':13} {'mode':14} {'cycles':>9} {'SRAM':>7} {'weights':>8} {'stream':>7} {'ms':>6}"
    for vela in velas:
        head += f" | Vela {vela.name}: cycles ratio   SRAM weights  stream"
    yield head
    ratios = {vela.name: {} for vela in velas}
    for line in lines:
        ours = line["ours"]
        text = f"{line['model']:24} {line['npu']:13} {line['mode']:14} "
        if "error" in ours:
            yield text + str(ours["error"])
            continue
        text += (f"{ours['cycles']:9.0f} {ours['sram']:7} {ours['weights']:8} {ours['stream']:7} "
                 f"{ours['compile_ms']:6.1f}")
        for vela in velas:
            figures = line[vela.name]
            cycles = best(figures, "cycles")
            if cycles is None:
                text += " | none"
                continue
            ratio = cycles / ours["cycles"]
            ratios[vela.name].setdefault((line["npu"], line["mode"]), []).append(ratio)
            text += (f" | {cycles:9.0f} {ratio:6.2f}x {best(figures, 'sram'):7} {best(figures, 'weights'):8} "
                     f"{best(figures, 'stream'):7}")
        yield text
    for vela in velas:
        for (npu, mode), values in ratios[vela.name].items():
            mean = geometric_mean(values)
            yield f"geometric mean against Vela {vela.name}, {npu}, {mode}: {mean:.2f}x over {len(values)} models"


def thousands(value):
    return f"{value / 1000:.1f}"


def name_of(line):
    return f"{line['npu'].removeprefix('ethos-')} {line['mode']}"


def ratio_tables(lines, velas):
    """The ratios of all Velas as a table in Markdown: a row for each NPU and mode, a column for each model. First by the
    simulator's clock, with a star where the literal estimate says the opposite; then by that estimate."""
    models = list(dict.fromkeys(line["model"] for line in lines))
    for key, title in (("cycles", "by the clock"), ("literal", "by the literal estimate")):
        rows = {}
        for line in lines:
            if "error" in line["ours"]:
                continue
            cells = rows.setdefault(name_of(line), {})
            cells[line["model"]] = [ratios_of(line, vela, key) for vela in velas]
        yield f"| {title} | " + " | ".join(models) + " | mean | mean of the worse |"
        yield "|---" * (len(models) + 3) + "|"
        for name, cells in rows.items():
            known = [cells.get(model, [None] * len(velas)) for model in models]
            means = [geometric_mean([v[0] for v in values if v]) for values in zip(*known)]
            worse = geometric_mean([min(v[0] for v in cell if v) for cell in known if any(cell)])
            text = [" / ".join(f"{v[0]:.2f}{'' if v[1] or key != 'cycles' else '*'}" if v else "none" for v in cell)
                    for cell in known]
            text += [" / ".join(f"{m:.2f}" if m else "none" for m in means), f"{worse:.2f}" if worse else "none"]
            yield f"| {name} | " + " | ".join(text) + " |"
        yield ""


def ratios_of(line, vela, key):
    """Vela's cycles divided by ours, and whether clock and literal estimate agree which is less; None without Vela."""
    both = [best(line[vela.name], k) for k in ("cycles", "literal")]
    if both[0] is None:
        return None
    clock, literal = both[0] / line["ours"]["cycles"], both[1] / line["ours"]["literal"]
    return (clock if key == "cycles" else literal), (clock >= 1) == (literal >= 1)


def beside(line, velas):
    """Of the better of all Velas' streams and ours: ratios by clock and literal estimate, with and without elimination of dead
    channels, and without it and with sums in one operation that the NPU rounds, as all of Vela's are. None without either."""
    figures = [f for vela in velas for f in line[vela.name] if f and "error" not in f]
    if not figures or "error" in line["ours"]:
        return None
    ratios = {}
    for key in ("cycles", "literal"):
        vela = best(figures, key)
        for prefix, ours in (("", "ours"), ("kept ", "kept"), ("rounded ", "rounded")):
            ratios[prefix + key] = vela / line[ours][key]
    return ratios


def npu_table(npu, lines, velas):
    """Of each network and memory mode both cycles in thousands, and what Vela printed for its own. A star: clock and literal
    estimate do not agree which is faster."""
    yield (f"| {npu.removeprefix('ethos-')} | network | our clock: Vela / ours | literal estimate: Vela / ours "
           "| Vela prints | with dead channels kept | kept, sums as the NPU rounds them | SRAM: Vela / ours |")
    yield "|---" * 8 + "|"
    for line in (one for one in lines if one["npu"] == npu):
        ratios = beside(line, velas)
        if not ratios:
            continue
        figures = [f for vela in velas for f in line[vela.name] if f and "error" not in f]
        clock, literal = (f"{thousands(best(figures, key))} / {thousands(line['ours'][key])} = {ratios[key]:.2f}"
                          for key in ("cycles", "literal"))
        star = "" if (ratios["cycles"] >= 1) == (ratios["literal"] >= 1) else "*"
        printed = min((f["printed"] for f in figures if f.get("printed")), default=None)
        fast = best([line[vela.name][0] for vela in velas], "sram")
        yield (f"| {line['mode']} | {line['model']} | {clock}{star} | {literal} | {thousands(printed) if printed else 'none'} "
               f"| {ratios['kept cycles']:.2f}, {ratios['kept literal']:.2f} | {ratios['rounded cycles']:.2f}, "
               f"{ratios['rounded literal']:.2f} | {fast} / {line['ours']['sram']} |")


def npu_tables(lines, velas):
    for npu in dict.fromkeys(line["npu"] for line in lines):
        yield from npu_table(npu, lines, velas)
        yield ""


def mean_table(lines, velas):
    yield ("| geometric mean | networks | clock | literal | clock, dead channels kept | literal, kept | least clock, kept "
           "| clock, kept, the NPU's sums | literal, kept, the NPU's sums |")
    yield "|---" * 9 + "|"
    found = {}
    for line in lines:
        found.setdefault(name_of(line), []).append(beside(line, velas))
    found["all"] = [ratios for values in found.values() for ratios in values]
    for name, values in found.items():
        values = [ratios for ratios in values if ratios]
        if not values:
            continue
        mean = {key: f"{geometric_mean([ratios[key] for ratios in values]):.2f}" for key in values[0]}
        yield (f"| {name} | {len(values)} | {mean['cycles']} | {mean['literal']} | {mean['kept cycles']} | {mean['kept literal']} "
               f"| {min(ratios['kept cycles'] for ratios in values):.3f} | {mean['rounded cycles']} | {mean['rounded literal']} |")


def bound_table(lines, velas):
    """Where the clock's cycles of our streams go, in thousands, without elimination of dead channels: what the units would take
    if nothing ever waited (the busier of MAC array and output unit, operation by operation), of that element-wise operations; how
    long each port is busy; in how many cycles no operation is under way; the lower bound, the larger of the units and of reading
    all constants once; and how often that and our cycles are in those of the better Vela."""
    yield "| NPU | network | clock | units | of it element-wise | AXI0 | AXI1 | no operation | lower bound | Vela / bound | Vela / ours |"
    yield "|---" * 11 + "|"
    means = []
    for line in lines:
        ours = line["ours"]
        if "error" in ours:
            continue
        bound = max(ours["bound"], ours["constants_once"])
        text = [thousands(ours[key]) for key in ("cycles", "bound", "elementwise", "axi0", "axi1", "idle")]
        vela = best([f for one in velas for f in line[one.name] if f], "cycles")
        most = [vela / bound, vela / ours["cycles"]] if vela else None
        if most:
            means.append(most)
        text += [thousands(bound), *(f"{value:.2f}" for value in most or [])]
        yield f"| {name_of(line)} | {line['model']} | " + " | ".join(text) + " |"
    for index, name in enumerate(("of Vela / bound", "of Vela / ours")):
        mean = geometric_mean([values[index] for values in means])
        if mean:
            yield from ("", f"Geometric mean {name}: {mean:.2f}")


def column_tables(lines, velas):
    """Of the streams that Vela makes for speed, in thousands of cycles: our clock, the literal estimate, what Vela printed."""
    models = list(dict.fromkeys(line["model"] for line in lines))
    for vela in velas:
        yield f"| Vela {vela.version} | " + " | ".join(models) + " |"
        yield "|---" * (len(models) + 1) + "|"
        rows = {}
        for line in lines:
            figures = line[vela.name][0]
            if figures and "error" not in figures and figures.get("printed"):
                text = [f"{figures[key] / 1000:.1f}" for key in ("cycles", "literal", "printed")]
                rows.setdefault(name_of(line), {})[line["model"]] = " / ".join(text)
        for name, cells in rows.items():
            yield f"| {name} | " + " | ".join(cells.get(model, "none") for model in models) + " |"
        yield ""
