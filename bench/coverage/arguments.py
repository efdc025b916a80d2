"""What the scripts that survey networks have in common on their command lines, and how they name what other programs raise."""
import argparse
import logging
import pathlib
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]


def arguments(about, chosen="networks whose names", page="the table"):
    """The options of all of them. `chosen`: what a pattern is compared with."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="PATTERN", default="", help=f"{chosen} match this regular expression")
    parser.add_argument("--intarsia", type=pathlib.Path, default=ROOT / "build/release/bin/intarsia")
    parser.add_argument("--update", type=pathlib.Path, metavar="PAGE", help=f"write {page} into this page")
    return parser


def without_warnings():
    """Those of converters and quantisers, which are about their own code."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)


def words_of(problem):
    """The last line of an exception of another program."""
    return (str(problem).strip().splitlines() or [type(problem).__name__])[-1][:300]
