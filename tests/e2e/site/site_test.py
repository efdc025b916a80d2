#!/usr/bin/env python3
"""Builds the documentation site as scripts/site does, and tries that its checks notice what they are for.

    site_test.py --output DIR --python-package DIR

Exit status 77: the packages of docs/site/requirements.txt, or doxygen, are not installed.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(REPOSITORY / "docs" / "site"), str(REPOSITORY / "tests" / "support")]
from needs import SKIPPED, skip  # noqa: E402, it lies there


def unnoticed(html, faults):
    """What of the faults, each (what it is, how a site is changed, what a problem says), the checks do not find in a copy that
    has all of them."""
    import built_site
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        shutil.copytree(html, root / "html")
        shutil.copytree(html.parent / "doxygen", root / "doxygen")
        for _, change, _ in faults:
            change(root / "html")
        found = built_site.problems_of(root / "html")
    return [f"{what} is not noticed" for what, _, expected in faults if not any(re.search(expected, problem) for problem in found)]


def replace(page, old, new):
    def change(root):
        text = (root / page).read_text(encoding="utf-8")
        if old not in text:
            raise AssertionError(f"{page} has no {old}")
        (root / page).write_text(text.replace(old, new), encoding="utf-8")
    return change


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True)
    parser.add_argument("--python-package", required=True)
    options = parser.parse_args()
    done = subprocess.run([sys.executable, str(REPOSITORY / "scripts" / "site"), "--output", options.output,
                           "--python-package", options.python_package], capture_output=True, text=True)
    if done.returncode == SKIPPED:
        return skip("docs_site_test", "docs-site", done.stderr.strip())
    print(done.stdout + done.stderr)
    if done.returncode != 0:
        return 1
    html = pathlib.Path(options.output).resolve() / "html"
    problems = unnoticed(html, [
        ("a page that is gone", lambda root: (root / "docs" / "memory.html").unlink(), r"docs/memory\.html leads to no file"),
        ("a heading that is gone", replace("docs/versioning.html", 'id="what-the-version-covers"', 'id="what"'),
         r"#what-the-version-covers leads to no place of docs/versioning\.html"),
        ("a header without its page", lambda root: (root / "reference" / "cpp" / "plan.h.html").unlink(),
         r"intarsia/plan\.h: is a public header and has no page"),
        ("a type that is not shown", replace("reference/cpp/compile.h.html", '<span class="pre">ModelFile</span>', ""),
         r"intarsia/compile\.h: ModelFile is not on its page"),
        ("a name of Python that is not shown", replace("reference/python.html", 'id="intarsia.sweep"', 'id="sweep"'),
         r"intarsia\.sweep: is public and not on the page"),
        ("a script of another host", replace("docs/package.html", "<head>", '<head><script src="//example.org/a.js"></script>'),
         r"docs/package\.html: loads //example\.org/a\.js from another host"),
        ("a page that is not in the navigation", replace("index.html", 'href="docs/glossary.html"', 'href="docs/memory.html"'),
         r"docs/glossary\.md: is not in the navigation"),
    ])
    print("\n".join(problems), file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
