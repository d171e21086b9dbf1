"""Sphinx configuration."""

from spanscore.version import __version__

project = "spanscore"
copyright = "The spanscore authors"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_click", "sphinx_design"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"spanscore {release}"
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist"]
autodoc_typehints = "description"
