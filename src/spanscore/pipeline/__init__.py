"""The main job: a detector over a labelled dataset, aligned, scored, and written down."""

from spanscore.pipeline.run import Job, Outcome, run

__all__ = ["Job", "Outcome", "run"]
