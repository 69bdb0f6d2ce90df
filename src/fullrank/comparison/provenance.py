"""What a comparison was made of and with: fingerprints, versions, seed, threads."""

from __future__ import annotations

import hashlib
import json
import platform
from typing import Any

import fullrank.runtime.threads as threading
from fullrank._version import __version__
from fullrank.comparison.results import Manifest, Results, as_plain
from fullrank.data.events import Events
from fullrank.data.feedback import Feedback
from fullrank.data.split import Split
from fullrank.models.storage.feedback import fingerprint

LIBRARIES = ("numpy", "scipy", "numba", "polars", "optuna")


def fingerprint_of_split(split: Split[Any]) -> str:
    """The same for splits with the same parts, cut from the same events where they were."""
    parts = [*split.parts, *([] if split.train_events is None else [split.train_events])]
    return hashlib.sha256(" ".join(fingerprint(part) for part in parts).encode()).hexdigest()


def manifest(data: Feedback | Events, split: Split[Any], seed: int, started: str, seconds: float) -> Manifest:
    """The manifest of a comparison that began then and took so long."""
    return Manifest(
        fullrank=__version__,
        python=platform.python_version(),
        libraries={name: version for name in LIBRARIES if (version := _version(name))},
        machine=f"{platform.system()} {platform.machine()}",
        data=fingerprint(data),
        split=fingerprint_of_split(split),
        seed=seed,
        threads=threading.threads(),
        protocol="",
        result="",
        started=started,
        seconds={"total": seconds},
    )


def result_id(results: Results) -> str:
    """The same for the same protocol, models and numbers, in whatever order the models came."""
    models = sorted(
        [model.name, model.recipe, str(model.parameters), as_plain(model.metrics), dict(model.irregular), model.failed]
        for model in results.models
    )  # fmt: skip
    content = json.dumps([results.manifest.protocol, models], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return ""
