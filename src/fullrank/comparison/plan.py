"""A whole comparison in a TOML file: what to read, how to split, which models, where to put what is found."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, ValidationError

from fullrank.comparison.inputs import Kind, Loaded, load
from fullrank.comparison.naming import AnyRecipe, Suits, make_recipe, name_recipes
from fullrank.comparison.splits import parse_split
from fullrank.errors import ConfigError, FullrankError, NoInputError, did_you_mean
from fullrank.metrics.table import parse
from fullrank.runtime.atomic import write_bytes


class DataPlan(BaseModel):
    """[data]: what to read, and how."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    kind: Kind | None = None
    columns: dict[str, str | int] | None = None
    scale: tuple[str, ...] | None = None
    separator: str | None = None
    header: bool | None = None
    decimal: str | None = None
    encoding: str | None = None
    time_unit: str | None = None
    time_format: str | None = None
    duplicates: str | None = None
    on_bad: str | None = None
    quarantine: str | None = None
    settings: dict[str, Any] | None = None
    items: str | None = None
    users: str | None = None

    def load(self, **more: Any) -> Loaded:
        """Read it; `more` are options of `read` that no plan has."""
        given = self.model_dump(exclude={"source", "settings"}) | more
        return load(self.source, settings=self.settings, **given)


class ModelPlan(BaseModel):
    """[[model]]: a recipe by name; everything else is one of its parameters."""

    model_config = ConfigDict(extra="allow", frozen=True)

    recipe: str
    name: str | None = None

    def make(self, suits: Suits | None = None) -> AnyRecipe:
        """The recipe with its parameters, and where they say nothing with those that suit the data."""
        return make_recipe(self.recipe, suits, **(self.model_extra or {}))


class Plan(BaseModel):
    """All of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: DataPlan
    title: str = ""
    split: str | None = None
    relevant: float | None = None
    metrics: tuple[str, ...] = ()
    tune: NonNegativeInt = 0
    seed: NonNegativeInt = 0
    sampled: PositiveInt = 100
    repeat: bool = False
    out: str | None = None
    model: tuple[ModelPlan, ...] = Field(default=())

    def recipes(self, suits: Suits | None = None) -> dict[str, AnyRecipe]:
        """The recipes by name, as they suit the data; none where the defaults are meant."""
        if not self.model:
            return {}
        pairs = [(one.name or type(one.make()).__name__, one.make(suits)) for one in self.model]
        if len(dict(pairs)) < len(pairs):
            twice = next(name for name, _ in pairs if sum(name == other for other, _ in pairs) > 1)
            raise ConfigError(f"two models are called '{twice}'; give one of them another name.")
        return name_recipes(dict(pairs))


def check_plan(plan: Plan) -> Plan:
    """The same plan, if all it names is known."""
    for _, make in _words(plan):
        make()
    return plan


def read_plan(path: str | Path) -> Plan:
    """The plan of a TOML file; what is wrong is said with its line and key."""
    text, content = read_toml(path, "plan")
    try:
        plan = Plan.model_validate(content)
    except ValidationError as error:
        raise _refusal(path, text, error) from error
    for where, make in _words(plan):
        try:
            make()
        except FullrankError as error:
            raise ConfigError(f"{path}:{line_of(text, where)}: {'.'.join(map(str, where))}: {error}") from error
    return plan


def read_toml(path: str | Path, what: str) -> tuple[str, dict[str, Any]]:
    """The text of a TOML file and what it says; `what` it should be is told where it cannot be read."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NoInputError(
            f"{path}: cannot be read as a {what} ({getattr(error, 'strerror', None) or error})."
        ) from error
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is not TOML: {error}; repair the line.") from error


def _refusal(path: str | Path, text: str, error: ValidationError) -> ConfigError:
    """The first fault of a plan, with its line and key."""
    fault = error.errors()[0]
    where = tuple(fault["loc"])
    place = f"{path}:{line_of(text, where)}: {'.'.join(map(str, where))}"
    if fault["type"] == "extra_forbidden":
        names = list((DataPlan if where[0] == "data" else Plan).model_fields)
        return ConfigError(f"{place}: unknown key. {did_you_mean(str(where[-1]), names)}")
    if fault["type"] == "missing":
        return ConfigError(f"{place}: is missing; add it.")
    return ConfigError(f"{place}: {fault['msg'][0].lower()}{fault['msg'][1:]}, got {fault['input']!r}.")


def _words(plan: Plan) -> list[tuple[tuple[Any, ...], Callable[[], Any]]]:
    """Where models, metrics and splits are named, and what finds them."""
    words: list[tuple[tuple[Any, ...], Callable[[], Any]]] = [(("model", n), m.make) for n, m in enumerate(plan.model)]
    words += [(("metrics",), partial(parse, metric)) for metric in plan.metrics]
    if plan.split is not None:
        words.append((("split",), partial(parse_split, plan.split)))
    return [*words, (("model",), plan.recipes)]


def line_of(text: str, where: tuple[Any, ...]) -> int:
    """The line of a key, or of the table it should stand in, counted from 1.

    >>> line_of('seed = 1\\n[[model]]\\nrecipe = "IALS"\\n[[model]]\\nfactors = 3\\n', ("model", 1, "factors"))
    5
    >>> line_of("[[a]]\\n[[a.b]]\\n[[a]]\\n[[a.b]]\\nkey = 1\\n", ("a", 1, "b", 0, "key"))
    5
    """
    table: tuple[Any, ...] = ()
    seen: dict[tuple[Any, ...], int] = {}  # arrays of tables, and the place of the last one in each
    nearest = 1
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"\s*(\[\[?)\s*([^\]]+?)\s*\]", line)
        key = re.match(r'\s*"?([A-Za-z0-9_-]+)"?\s*=', line)
        if head:
            table = _table(head[2].strip('"').split("."), head[1] == "[[", seen)
        at = (*table, key[1]) if key else table if head else None
        if at is not None and at[: len(where)] == where:
            return number
        if at is not None and at == where[: len(at)]:
            nearest = number
    return nearest


def _table(names: list[str], one_more: bool, seen: dict[tuple[Any, ...], int]) -> tuple[Any, ...]:
    """Where the table of a header stands; `seen` counts one more in an array of tables."""
    path: tuple[Any, ...] = ()
    for place, name in enumerate(names, 1):
        path = (*path, name)
        if one_more and place == len(names):
            seen[path] = seen.get(path, -1) + 1
        path = (*path, seen[path]) if path in seen else path
    return path


def write_plan(plan: Plan, path: str | Path, *, overwrite: bool = False) -> None:
    """The plan as a TOML file that `read_plan` reads again."""
    write_bytes(path, as_toml(plan).encode(), overwrite=overwrite)


def as_toml(plan: Plan) -> str:
    """What is set, as TOML: every default that is not."""
    content = plan.model_dump(exclude_none=True, exclude_defaults=True)
    data, models = content.pop("data"), content.pop("model", ())
    lines = [f"{key} = {_value(value)}" for key, value in content.items()]
    lines += ["", "[data]", *(f"{key} = {_value(value)}" for key, value in data.items())]
    for model in models:
        lines += ["", "[[model]]", *(f"{key} = {_value(value)}" for key, value in model.items())]
    return "\n".join(lines).lstrip("\n") + "\n"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_value(key)} = {_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
