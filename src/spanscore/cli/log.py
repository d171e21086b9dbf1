"""`spanscore log`: add results to a history."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spanscore.cli import options as shared
from spanscore.cli.options import INPUT, OUTPUT, option
from spanscore.errors import UsageError, plural, printable

if TYPE_CHECKING:
    from datetime import datetime


@shared.command("log")
@click.argument("results")
@option(OUTPUT, "--to", metavar="FILE", help="Parquet file to add to, such as history.parquet.")
@option(
    OUTPUT,
    "--mlflow",
    metavar="[URI]",
    is_flag=False,
    flag_value="",
    help="Log to this MLflow tracking store, such as sqlite:///mlflow.db; without a URI: MLflow's own setting.",
)
@option(OUTPUT, "--experiment", default="spanscore", show_default=True, help="Experiment of the MLflow run.")
@option(INPUT, "--name", default="", help="Name to show, such as a version or a commit.")
@option(
    INPUT,
    "--at",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]),
    metavar="TIME",
    help="Time of the results in UTC, such as 2026-01-31T12:00 (default: the end of the run, or now).",
)
@shared.max_bytes_option
def command(results: str, to: str | None, mlflow: str | None, experiment: str, name: str, at: datetime | None) -> None:
    """Add RESULTS (results.json or its folder) to a history, to MLflow, or to both.

    Logging a result again adds nothing, unless it gets another name. MLflow receives the scores, interval bounds,
    signatures, and only files without text.

    \b
    spanscore log out --to history.parquet --name v1.3
    spanscore log out --mlflow sqlite:///mlflow.db --experiment pii
    """
    from spanscore.analysis.history import entries, log

    if to is None and mlflow is None:
        raise UsageError("choose where to log: --to history.parquet, --mlflow, or both.")
    if to is not None:
        new = log(results, to, name=name, at=at)
        said = plural(new, "new row") if new else "already logged; nothing is new (another --name logs it again)"
        click.echo(f"{printable(to, limit=255)}: {said}")
    if mlflow is not None:
        from spanscore.report.mlflow_store import log_to_mlflow

        folder = Path(results) if Path(results).is_dir() else Path(results).parent
        found = entries(results, name=name, at=at)
        run = log_to_mlflow(found, folder, uri=mlflow or None, experiment=experiment, name=name)
        click.echo("MLflow: already logged; nothing is new" if run is None else f"MLflow: run {run}")
