"""The pipeline: a detector over a labelled dataset, aligned, scored and written."""

from spanscore.pipeline.run import Job, Outcome, chosen_detector, run

__all__ = ["Job", "Outcome", "chosen_detector", "run"]
