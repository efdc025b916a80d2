"""The block of docs/coverage.md that coverage.py prints: a table of all networks and targets, means, and what misses the goals."""
import math

from peers.tables import table

BEGIN, END = "<!-- coverage.py: begin -->", "<!-- coverage.py: end -->"


def with_block(text, lines, begin=BEGIN, end=END):
    before, _, rest = text.partition(begin + "\n")
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"the page has no {begin} ... {end}")
    return "\n".join([before + begin, *lines, end]) + after


def show(lines, page, begin=BEGIN, end=END):
    """Into the page's block, or onto the screen where there is no page."""
    if page:
        page.write_text(with_block(page.read_text(encoding="utf-8"), lines, begin, end), encoding="utf-8")
    else:
        print("\n".join(lines))


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def times(value):
    return f"{value:.2f}" if value else ""


def in_words(ours):
    return ours.get("error") or {None: "no peer", "": "exact"}.get(ours.get("exact"), ours.get("exact")) + f", {ours['seconds']:.1f} s"


def is_exact(ours):
    """None: there is no peer, of its operators neither."""
    parts = ours.get("by_operator")
    if ours.get("exact") is None and not parts:
        return None
    return ours["exact"] == "" or bool(parts and not parts["differ"] and parts["TFLM"])


def exact_text(known, ours):
    exact, parts = is_exact(ours), ours.get("by_operator")
    if "error" in ours:
        return "refused"
    if exact and parts:
        return ", ".join(f"{parts[who]} operators {how}" for who, how in (("TFLM", "as TFLM"), ("LiteRT", "as LiteRT"), ("no peer", "without a peer"))
                         if parts[who])
    return "no peer" if exact is None else f"as {known['peer']}" if exact else "no"


def difference_text(ours):
    parts = ours.get("by_operator")
    return "; ".join([ours["exact"] or "no peer takes the whole", *(parts["differ"][:3] if parts else [])])


def beside(theirs, ours, form=str):
    """"theirs / ours", and the ratio."""
    if not ours:
        return f"{form(theirs)} / -" if theirs else None
    return f"{form(theirs)} / {form(ours)} = {times(theirs / ours)}" if theirs else f"- / {form(ours)}"


def off_text(ours):
    """"7 (cast, gather, mul ...)"."""
    most = 4
    kinds = ours["off_kinds"][:most] + (["..."] if len(ours["off_kinds"]) > most else [])
    return f"{ours['off']} ({', '.join(kinds)})" if ours["off"] else "0"


def thousands(value):
    return f"{value / 1000:.0f}"


def seconds(value):
    return f"{value:.1f}"


def npu_rows(results, target, npu):
    for name, known in results.items():
        ours, vela = known.get("ours", {}).get(target), known.get("vela", {}).get(npu, {})
        if not ours:
            continue
        off = None if "error" in ours else off_text(ours)
        yield [name, known["inputs"][0]["type"], exact_text(known, ours), off,
               "fails" if "error" in vela else vela.get("off"),
               beside(vela.get("cycles"), ours.get("cycles"), thousands), ours.get("bound") and thousands(ours["bound"]),
               beside(vela.get("literal"), ours.get("literal"), thousands),
               beside(vela.get("sram"), ours.get("sram")), beside(vela.get("seconds"), ours.get("seconds"), seconds)]


def cpu_rows(results, target):
    for name, known in results.items():
        ours = known.get("ours", {}).get(target)
        if ours:
            yield [name, known["inputs"][0]["type"], exact_text(known, ours), ours.get("cycles") and thousands(ours["cycles"]),
                   beside(known.get("tflm", {}).get("arena"), ours.get("ram")), seconds(ours["seconds"]), ours["megabytes"]]


class Summary:
    """Means of ratios, Vela's by ours or TFLM's by ours, and every case below 1."""

    def __init__(self):
        self.ratios, self.missed = {}, {}

    def add(self, what, where, name, theirs, ours, is_goal=True):
        if theirs and ours:
            self.ratios.setdefault(what, {}).setdefault(where, []).append(theirs / ours)
            if theirs < ours and is_goal:
                self.missed.setdefault(what, []).append(f"{name} {where} ({times(theirs / ours)})")

    def lines(self):
        rows = []
        for what, places in self.ratios.items():
            for where, values in [*places.items(), ("all", [value for each in places.values() for value in each])]:
                if where != "all" or len(places) > 1:
                    rows.append([what, where, len(values), times(geometric_mean(values)), times(min(values))])
        return table(["theirs / ours", "target", "networks", "geometric mean", "least"], rows)


def goals(results, targets, npu_of):
    summary, wrong, refused, off = Summary(), [], [], []
    exact = asked = 0
    for name, known in results.items():
        if "refused" in known:
            refused.append(f"{name} everywhere ({known['refused']})")
        for target in targets:
            ours, npu = known.get("ours", {}).get(target), npu_of(target)
            if not ours:
                continue
            if "error" in ours:
                refused.append(f"{name} {target} ({ours['error']})")
                continue
            asked += is_exact(ours) is not None
            exact += is_exact(ours) is True
            if is_exact(ours) is False:
                wrong.append(f"{name} {target} ({difference_text(ours)})")
            if not npu:
                summary.add("RAM: TFLM's arena", target, name, known.get("tflm", {}).get("arena"), ours.get("ram"))
                continue
            vela = known.get("vela", {}).get(npu, {})
            if ours["off"] and known["inputs"][0]["type"] != "f32":
                off.append(f"{name} {npu}: {off_text(ours)}")
            for what, key in (("cycles by our clock: Vela", "cycles"), ("cycles by the literal estimate: Vela", "literal"),
                              ("SRAM: Vela", "sram")):
                summary.add(what, npu, name, vela.get(key), ours.get(key))
            summary.add("cycles by our clock: Vela, to the lower bound", npu, name, vela.get("cycles"), ours.get("bound"), is_goal=False)
            if "error" not in vela and not ours["off"]:  # what stays with the CPU takes neither any time
                summary.add("compile time: Vela", npu, name, vela.get("seconds"), ours.get("seconds"))
    return summary, {"refused": refused, "not as the peer": wrong, "operators of integer networks off the NPU": off,
                     **{f"{what} has less": cases for what, cases in summary.missed.items()}}, exact, asked


def lines_of(results, targets, npu_of, left_out=0):
    summary, missed, exact, asked = goals(results, targets, npu_of)
    rest = f" ({left_out} more were not measured)" if left_out else ""
    lines = ["## Summary", "", f"{len(results)} networks{rest}; {exact} of {asked} results of a network on a target are the peer's. "
             "Ratios above 1: ours is less.", "", *summary.lines(), "", "## What misses the goals", ""]
    for what, cases in missed.items():
        lines.append(f"* {what}: {'; '.join(cases) if cases else 'none'}")
    for target in targets:
        npu = npu_of(target)
        rows = list(npu_rows(results, target, npu) if npu else cpu_rows(results, target))
        if not rows:
            continue
        lines += ["", f"## {target}", ""]
        lines += table(["network", "type", "result", "off the NPU", "off, Vela", "clock, thousands: Vela / ours", "lower bound",
                        "literal estimate: Vela / ours", "SRAM: Vela / ours", "compile time, s: Vela / ours"] if npu else
                       ["network", "type", "result", "estimated cycles, thousands", "RAM: TFLM / ours", "compile time, s",
                        "compiler's memory, MB"], rows)
    return lines
