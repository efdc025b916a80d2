"""What a comparison prints in the end: a row for each operator, and why cases were not compared."""


def print_summary(rows, texts, most_texts):
    """`rows`: how often each result came, by operator; `texts`: how often each reason. Returns the results of all."""
    results = sorted({result for counts in rows.values() for result in counts})
    print("\n| operator | cases | " + " | ".join(results) + " |")
    print("|---|" + "---|" * (len(results) + 1))
    for name, counts in sorted(rows.items()):
        print(f"| {name} | {sum(counts.values())} | " + " | ".join(str(counts[r]) for r in results) + " |")
    total = {result: sum(counts[result] for counts in rows.values()) for result in results}
    print(f"| all | {sum(total.values())} | " + " | ".join(str(total[r]) for r in results) + " |")
    for text, count in texts.most_common(most_texts):
        print(f"{count} x {text}")
    return results
