"""Draw the import graph of the rooms into explanation/architecture.md, between its two markers."""

from __future__ import annotations

import tomllib
from pathlib import Path

import grimp

HERE = Path(__file__).parent
PAGE = HERE / "explanation" / "architecture.md"
BEGIN, END = "<!-- import graph: begin -->", "<!-- import graph: end -->"
PACKAGE = "spanscore"


def main() -> None:
    """Write the page with the current graph."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """Return the page with the current graph between its markers."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n```text\n{graph()}\n```\n{END}{after}"


def graph() -> str:
    """Draw a matrix with a row and a column per room; a mark means that the row's room imports the column's room."""
    order = rooms()
    number = {name: place for place, name in enumerate(order, 1)}
    at_runtime, for_types = imports(exclude_types=True), imports(exclude_types=False)
    width = max(map(len, order))
    lines = [" " * (width + 4) + " ".join(f"{column:>2}" for column in number.values())]
    for name, row in number.items():
        cells = []
        for other in order:
            edge = name, other
            mark = "●" if edge in at_runtime else "○" if edge in for_types else "\\" if name == other else ""
            cells.append(f"{mark:>2}")
        lines.append(f"{row:>2}  {name:<{width}}{' '.join(cells)}".rstrip())
    return "\n".join(lines)


def rooms() -> list[str]:
    """Return the rooms in the order of the layers that import-linter checks."""
    settings = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [name.strip() for layer in layers for name in layer.split("|")]


def imports(*, exclude_types: bool) -> set[tuple[str, str]]:
    """Return the pairs of different rooms of which the first imports the second, lazily or not."""
    found = grimp.build_graph(PACKAGE, cache_dir=None, exclude_type_checking_imports=exclude_types)
    edges = set()
    for module in found.modules:
        for other in found.find_modules_directly_imported_by(module):
            edge = room(module), room(other)
            if "" not in edge and edge[0] != edge[1]:
                edges.add(edge)
    return edges


def room(module: str) -> str:
    """Return the room of a module; empty for the package itself and `__main__`, which belong to none."""
    name = module.removeprefix(PACKAGE).removeprefix(".").partition(".")[0]
    return "" if name == "__main__" else name


if __name__ == "__main__":
    main()
