"""fullrank serve"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fullrank.cli.printing import note
from fullrank.errors import ConfigError, ParameterError

if TYPE_CHECKING:
    from fullrank.serving.context import Intake
    from fullrank.serving.registry import Registry


def serve(
    models: Annotated[
        list[str], typer.Argument(metavar="MODEL|name=MODEL...", help="Model files, as 'fullrank fit' writes them.")
    ],
    items: Annotated[
        str | None, typer.Option(help="What is known of items: a file with ids, or a known data set (name or folder).")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 for any that is free.", min=0, max=65535)] = 8000,
    keys: Annotated[Path | None, typer.Option(help="A file with a key in every line; requests must carry one.")] = None,
    models_folder: Annotated[Path | None, typer.Option(help="Where models to activate are.")] = None,
    store: Annotated[
        str | None, typer.Option(help="Where feedback is kept: a file, or postgresql+psycopg://user@host/database.")
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Keep no feedback.")] = False,
    docs: Annotated[bool, typer.Option("--docs", help="A page of the interface at /docs.")] = False,
    log_users: Annotated[bool, typer.Option("--log-users", help="Users by their ids in the log, not hashed.")] = False,
    allow_host: Annotated[list[str] | None, typer.Option(help="A name the service goes by.")] = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Serve other machines without keys.")] = False,
    encoding: Annotated[str, typer.Option(help="Of the file of --items.")] = "utf-8",
) -> None:
    """Serve models by HTTP: lists, reasons, offer sets; a line of JSON for every request on stderr."""
    _check_installed()
    from fullrank.serving.access import LOCAL, Hosts, Keys, host_name, read_keys
    from fullrank.serving.application import create_app
    from fullrank.serving.logs import RequestLog
    from fullrank.serving.server import check_host, listen, run

    if store is not None and read_only:
        raise ParameterError("--store keeps feedback and --read-only keeps none; give one of them.")
    check_host(host, keys=keys is not None, insecure=insecure)
    known = Keys() if keys is None else read_keys(keys)
    hosts = Hosts(LOCAL | {host_name(name) for name in [host, *(allow_host or [])]})
    listener = listen(host, port)
    try:
        registry = _load(models, items, models_folder, encoding)
        where = "http://{}:{}".format(f"[{host}]" if ":" in host else host, listener.getsockname()[1])
        with _feedback(store) as intake:
            kept = "" if read_only or store else "; no store is given, so no feedback is kept"
            note(f"{where} serves {', '.join(registry.names())}{kept}.")
            app = create_app(registry, intake, keys=known, hosts=hosts, log=RequestLog(users=log_users), docs=docs)
            run(app, listener)
    finally:
        listener.close()


@contextmanager
def _feedback(where: str | None) -> Iterator[Intake | None]:
    """The store, open while the service runs; what was noticed while it was opened is told."""
    if where is None:
        yield None
        return
    from fullrank.serving.store import open_store
    from fullrank.serving.stored import StoredFeedback, intake_of

    opened = open_store(where)
    for line in opened.notes:
        note(line)
    feedback = StoredFeedback(opened)
    try:
        yield intake_of(feedback)
    finally:
        feedback.close()


def _load(models: list[str], items: str | None, folder: Path | None, encoding: str) -> Registry:
    """The models, each warmed up, and what is known of their items, told of each."""
    from fullrank.cli.rule_options import read_about
    from fullrank.models.files import load
    from fullrank.runtime.threads import one_blas_thread
    from fullrank.serving.registry import open_registry, parse_model

    about = None
    if items is not None:
        about, notes = read_about(items, load(parse_model(models[0])[1]).train.items, encoding)
        for line in notes:
            note(line)
    with one_blas_thread():
        return open_registry(models, about, folder)


def _check_installed() -> None:
    try:
        import fastapi  # noqa: F401
        import prometheus_client  # noqa: F401
        import sqlalchemy  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            f"serving needs {error.name}, which is not installed; install it with: pip install 'fullrank[serve]'"
        ) from None
