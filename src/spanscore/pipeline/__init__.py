"""The pipeline: a detector over a labelled dataset, aligned, scored and written."""

from spanscore.pipeline.run import Job, Observer, Outcome, Progress, chosen_detector, run

__all__ = ["Job", "Observer", "Outcome", "Progress", "chosen_detector", "run"]
