"""python -m benchmarks.conventions [PACKAGE ...]: how other libraries count the lists of the tests, by running them.

Writes tests/evaluation/convention_figures.json, which the tests hold `fullrank.evaluation.conventions` to; packages
that are not asked for keep their figures. Each is installed in an environment of its own. LensKit and RecBole want
torch first, and OmniRec Python 3.12: make their environments in benchmarks/.envs by hand.
RePlay adds up people in another order every time, so that its last digits change from run to run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.evaluation.convention_cases import KS, all_lists

from benchmarks.peers import SCRIPTS, Peer, installed

FIGURES = Path(__file__).resolve().parents[1] / "tests" / "evaluation" / "convention_figures.json"
PEERS = {
    "implicit": Peer("implicit", "0.7.3", "judge_implicit.py"),
    "irspack": Peer("irspack", "0.5.2", "judge_irspack.py"),
    "rectools": Peer("rectools", "0.19.0", "judge_rectools.py"),
    "lenskit": Peer("lenskit", "2025.8.1", "judge_lenskit.py"),
    "recbole": Peer("recbole", "1.2.1", "judge_recbole.py"),
    "ranx": Peer("ranx", "0.3.21", "judge_ranx.py"),
    "trec_eval": Peer("pytrec_eval-terrier", "0.5.11", "judge_trec_eval.py"),
    "replay": Peer("replay-rec", "0.22.0", "judge_replay.py"),
    "omnirec": Peer("omnirec", "1.1.0", "judge_omnirec.py"),
}


def ask(peer: Peer) -> dict[str, Any]:
    """The package with its version, and its figures of every set of lists."""
    request = json.dumps({"ks": KS, "lists": {name: lists._asdict() for name, lists in all_lists().items()}})
    command = [installed(peer), SCRIPTS / peer.script]
    answer = subprocess.run(command, input=request, text=True, stdout=subprocess.PIPE, check=True).stdout
    found = json.loads(answer.splitlines()[-1])
    return {"package": f"{peer.name} {found['version']}", "figures": found["figures"]}


def main() -> None:
    known = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    asked = {name: ask(PEERS[name]) for name in sys.argv[1:] or PEERS}
    figures = {name: (known | asked)[name] for name in PEERS if name in known | asked}
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
