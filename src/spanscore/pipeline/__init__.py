"""The pipeline: a detector over a labelled dataset, aligned, scored and written."""

from spanscore.pipeline.job import Job, Outcome, chosen_detector
from spanscore.pipeline.run import Observer, Progress, run

__all__ = ["Job", "Observer", "Outcome", "Progress", "chosen_detector", "run"]
