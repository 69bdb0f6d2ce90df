"""Where every command starts, and how every failure ends."""

from __future__ import annotations

import hashlib
import os
import sys
import traceback
from typing import Annotated, Any

import typer

import fullrank
from fullrank.cli.compare import compare
from fullrank.cli.data import data
from fullrank.cli.demo import demo
from fullrank.cli.evaluate import evaluate
from fullrank.cli.explain import explain
from fullrank.cli.export import export
from fullrank.cli.feedback import feedback
from fullrank.cli.fit import fit
from fullrank.cli.judge import judge
from fullrank.cli.protocol import protocol
from fullrank.cli.recommend import recommend
from fullrank.cli.report import report
from fullrank.cli.reproduce import reproduce
from fullrank.cli.serve import serve
from fullrank.cli.signals import CODE, termination
from fullrank.cli.similar import similar
from fullrank.cli.tune import tune
from fullrank.cli.update import update
from fullrank.cli.warmup import warmup
from fullrank.errors import FullrankError
from fullrank.runtime.memory import explain as explain_memory

app = typer.Typer(
    name="fullrank",
    help="Recommenders trained and judged on the full ranking, when most feedback is missing.",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(fullrank.__version__)
        raise typer.Exit


@app.callback()
def common(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an unexpected failure happened.")] = False,
) -> None:
    """Options of all commands."""
    if context.invoked_subcommand is None:  # as whoever types the bare name expects
        print(context.get_help())


COMMANDS = (
    demo, compare, judge, report, reproduce, tune, fit, recommend, similar, explain, update, export, evaluate, data,
    serve, warmup,
)  # fmt: skip
for command in COMMANDS:
    app.command()(command)
app.add_typer(protocol)
app.add_typer(feedback)


def main(arguments: list[str] | None = None) -> None:
    """Run a command; every failure is one `error:` line on stderr and the exit code of its kind."""
    arguments = sys.argv[1:] if arguments is None else arguments
    sys.exit(_run(arguments))


def _run(arguments: list[str]) -> int:
    with termination() as terminated:
        try:
            outcome: Any = app(arguments, prog_name="fullrank", standalone_mode=False)
            sys.stdout.flush()
            if outcome == 130:  # typer's word for Ctrl-C
                raise KeyboardInterrupt
            return outcome if isinstance(outcome, int) else 0
        except KeyboardInterrupt:
            return _failed("terminated.", CODE) if terminated.yes else _failed("interrupted.", 130)
        except BaseException as error:
            return _explained(error, "--debug" in arguments)


def _explained(error: BaseException, debug: bool) -> int:
    """The line and the exit code of a failure."""
    if isinstance(error, FullrankError):
        return _failed(str(error), error.exit_code)
    if isinstance(error, MemoryError):
        return _failed(explain_memory(error), 74)
    if isinstance(error, BrokenPipeError):  # whoever read our output has seen enough
        _give_up_stdout()
        return 0
    if isinstance(error, OSError):
        _give_up_stdout()
        return _failed(f"the output cannot be written ({error.strerror or error}).", 74)
    if hasattr(error, "format_message"):  # a usage error of the argument parser
        return _failed(f"{_sentence(error.format_message())} {_help(error)}", getattr(error, "exit_code", 2))
    if isinstance(error, Exception):
        return _unexpected(error, debug)
    raise error


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _help(error: Any) -> str:
    """Where to look for what a command takes."""
    context = getattr(error, "ctx", None)
    return f"See '{context.command_path if context is not None else 'fullrank'} --help'."


def _give_up_stdout() -> None:
    """Let what is still buffered go nowhere: the flush at exit would fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _failed(message: str, code: int) -> int:
    one_line = " ".join(message.split())
    print(f"error: {one_line}", file=sys.stderr)
    return code


def _unexpected(error: Exception, debug: bool) -> int:
    trace = traceback.format_exc()
    if debug:
        print(trace, file=sys.stderr)
    frames = "".join(f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__))
    report = hashlib.sha256(f"{type(error).__name__}{frames}".encode()).hexdigest()[:12]
    return _failed(f"a fault of ours (report {report}): {type(error).__name__}; run again with 'fullrank --debug'.", 70)
