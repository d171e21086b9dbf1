"""The HTML report: one page with the scores and every error behind them."""

from spanscore.report.page.payload import Payload
from spanscore.report.page.write import MAX_MB, RIGHT, check_target, omission_note, write_folder, write_page

__all__ = ["MAX_MB", "RIGHT", "Payload", "check_target", "omission_note", "write_folder", "write_page"]
