"""Sphinx configuration."""

from typing import Any

from spanscore.version import __version__

project = "spanscore"
copyright = "The spanscore authors"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_click", "sphinx_design"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"spanscore {release}"
html_static_path = ["static"]
html_css_files = ["wide.css"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist"]
autodoc_typehints = "description"
smartquotes = False  # commands in prose keep the characters that a shell understands


def examples_as_code(app: object, context: object, lines: list[str]) -> None:
    """Turn the line blocks that sphinx-click makes of the examples in help texts into code blocks."""
    found: list[str] = []
    for line in lines:
        is_example = line.startswith("| ")
        if is_example and not (found and found[-1].startswith("   ")):
            found += [".. code-block:: text", ""]
        found.append(f"   {line[2:]}" if is_example else line)
    lines[:] = found


def setup(app: Any) -> None:
    """Connect the hook."""
    app.connect("sphinx-click-process-description", examples_as_code)
