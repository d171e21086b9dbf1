"""Groups of measures that are the tables which the script of a shared task prints."""

from __future__ import annotations

TASKS = {
    "i2b2": (
        "i2b2.token",
        "i2b2.strict",
        "i2b2.relaxed",
        "i2b2.token(hipaa=script)",
        "i2b2.strict(hipaa=script)",
        "i2b2.relaxed(hipaa=script)",
        "i2b2.token(binary=true)",
        "i2b2.strict(binary=true)",
        "i2b2.token(hipaa=script, binary=true)",
        "i2b2.strict(hipaa=script, binary=true)",
    ),
    "meddocan": ("meddocan.ner", "meddocan.leak", "meddocan.spans", "meddocan.merged"),
    "tab": (
        "tab.token",
        "tab.mention",
        "tab.entity",
        "tab.entity(identifiers=direct)",
        "tab.entity(identifiers=quasi)",
    ),
}
"""Group -> the measures in it."""
