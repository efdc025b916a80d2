"""Sphinx's configuration of the documentation site; scripts/site makes its sources and runs it."""
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path[:0] = [str(HERE), str(REPOSITORY / "python")]

project = "Intarsia"
author = "the Intarsia authors"
copyright = "the Intarsia authors; Apache-2.0"
release = re.search(r"VERSION (\d+\.\d+\.\d+)", (REPOSITORY / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
version = release

extensions = ["myst_nb", "breathe", "sphinx.ext.autodoc", "repository_pages"]
source_suffix = {".md": "myst-nb", ".rst": "restructuredtext", ".ipynb": "myst-nb"}
repository_address = os.environ.get("INTARSIA_SITE_REPOSITORY", "")

myst_heading_anchors = 6
nb_execution_mode = os.environ.get("INTARSIA_SITE_NOTEBOOKS", "off")
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True

breathe_projects = {"intarsia": os.environ.get("INTARSIA_SITE_DOXYGEN", "")}
breathe_default_project = "intarsia"
breathe_show_enumvalue_initializer = True

# The sources of the package alone: its extension module need not be built.
autodoc_mock_imports = ["intarsia._core"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
cpp_maximum_signature_line_length = 88
add_module_names = False

html_theme = "furo"
html_title = f"Intarsia {release}"
html_static_path = ["static"]
html_css_files = ["intarsia.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
highlight_language = "text"
pygments_style = "default"
pygments_dark_style = "github-dark"
# Nothing is asked of another host: pages are read offline too.
html_theme_options = {"footer_icons": []}
