"""An extension of Sphinx: Markdown that is written for the repository, as pages of the site.

The words behind a fence's language (`sh not run: REASON`, `json file=PATH`) are those of scripts/docs: a file's path becomes the
block's caption, the rest is not shown. A link to a file or a folder leads to the README of the folder, to the reference of a
header, to the repository where its address is known, or to a page with the text; one that leads nowhere is a warning.
"""
import pathlib
import posixpath
import re

import cpp_reference
import source_tree
from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx import addnodes
from sphinx.util import logging

FENCE = re.compile(r"^```(\w+)(?: +(.*))?$")
log = logging.getLogger(__name__)


def read_fences(app, docname, content):
    """Fences with words behind the language become directives, with the path of their file as caption."""
    lines, inside = content[0].split("\n"), False
    for index, line in enumerate(lines):
        if inside:
            inside = line.strip() != "```"
        elif match := FENCE.match(line):
            inside = True
            file = re.search(r"file=(\S+)", match.group(2) or "")
            options = [f":caption: {file.group(1)}"] if file else [":class: output"] if match.group(1) == "output" else []
            lines[index] = "\n".join([f"```{{code-block}} {match.group(1)}", *options, ""]) if options else f"```{match.group(1)}"
    content[0] = "\n".join(lines)


def page_of_path(app, path):
    """The page for a path of the repository, or None."""
    repository = source_tree.REPOSITORY
    full = repository / path
    roots = [root for _, _, root, _, _ in cpp_reference.GROUPS if path.startswith(root + "/") and path.endswith(".h")]
    candidates = [cpp_reference.page_of(path.removeprefix(root + "/")) for root in roots]
    candidates += [path + "/README", path.rpartition(".")[0], source_tree.source_page_of(full)]
    return next((page for page in candidates if page in app.env.found_docs), None)


def resolve_links(app, document):
    """Links to files and folders of the repository, which are no pages at their own paths."""
    for node in list(document.findall(addnodes.pending_xref)):
        if node.get("reftype") != "myst" or node.get("refdomain") not in (None, "", "myst"):
            continue
        target, _, anchor = node["reftarget"].partition("#")
        if not target:
            continue
        path = posixpath.normpath(posixpath.join(posixpath.dirname(app.env.docname), target)).rstrip("/")
        if not path.startswith("..") and not (source_tree.REPOSITORY / path).exists():
            continue  # no file: MyST reports it
        content = node.children
        if page := page_of_path(app, path):
            found = addnodes.pending_xref("", *content, refdomain="std", reftype="doc", reftarget="/" + page, refexplicit=True,
                                          refdoc=app.env.docname, refwarn=True)
        elif app.config.repository_address and not path.startswith(".."):
            found = nodes.reference("", "", *content, refuri=f"{app.config.repository_address}/{path}", internal=False)
        elif path.startswith(".."):
            continue
        else:
            found = nodes.inline("", "", *content)  # too large or no text
        node.replace_self(found)


def setup(app):
    app.add_config_value("repository_address", "", "env")
    for language in ("output", "ld"):  # what a command printed, and linker scripts, for which there is no lexer
        app.add_lexer(language, TextLexer)
    app.connect("source-read", read_fences)
    app.connect("doctree-read", resolve_links)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
