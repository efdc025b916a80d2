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
from sphinx.util.osutil import relative_uri

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


class NavigationTree:
    """The tree of all pages that the theme shows beside each of them. Sphinx resolves it again for every page, which takes more
    than half of the time of building the site; only the links and the path to the page differ, so it is resolved once."""

    TOKEN = re.compile(r"</?(?:ul|li)[^>]*>|<a [^>]*>")

    def __init__(self, html):
        self.tokens, self.texts, start = [], [], 0
        for match in self.TOKEN.finditer(html):
            self.texts.append(html[start:match.start()])
            self.tokens.append(match.group())
            start = match.end()
        self.texts.append(html[start:])
        self.branches = {}  # of an address: the lists, items and the link that lead to it, by their places among the tokens
        branch = []
        for place, token in enumerate(self.tokens):
            if token.startswith(("<ul", "<li")):
                branch.append(place)
            elif token.startswith("</"):
                branch.pop()
            elif address := self.address_of(token):
                self.branches.setdefault(address, [*branch, place])

    @staticmethod
    def address_of(link):
        match = re.search(r'href="([^"#:]+)"', link)
        return match and match.group(1)

    def of_page(self, address, relative):
        """The tree's HTML on the page at `address`; `relative` is how another address is written there."""
        current, tokens = set(self.branches.get(address, [])), list(self.tokens)
        for place, token in enumerate(tokens):
            target = self.address_of(token) if token.startswith("<a") else None
            if place in current:
                if token.startswith("<ul"):
                    token = '<ul class="current">'
                elif token.startswith("<li"):
                    token = token[:-2] + ' current">'
                else:
                    token = token.replace('class="', 'class="current ')
            tokens[place] = token if target is None else token.replace(
                f'href="{target}"', 'href="#"' if target == address else f'href="{relative(target)}"')
        return "".join(part for pair in zip(self.texts, [*tokens, ""]) for part in pair)


def share_navigation(app, pagename, templatename, context, doctree):
    """Before the theme asks for it: the tree of the first page's depth and options, with this page's links."""
    if "toctree" not in context:
        return
    trees = app.builder.__dict__.setdefault("intarsia_navigation", {})

    def toctree(**options):
        key = tuple(sorted(options.items()))
        if key not in trees:
            trees[key] = NavigationTree(app.builder._get_local_toctree(app.config.root_doc, **options))
        address = app.builder.get_target_uri(pagename)
        return trees[key].of_page(address, lambda target: relative_uri(address, target))

    context["toctree"] = toctree


def setup(app):
    app.add_config_value("repository_address", "", "env")
    for language in ("output", "ld"):  # what a command printed, and linker scripts, for which there is no lexer
        app.add_lexer(language, TextLexer)
    app.connect("source-read", read_fences)
    app.connect("doctree-read", resolve_links)
    app.connect("html-page-context", share_navigation, priority=400)  # the theme's is at 500
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
