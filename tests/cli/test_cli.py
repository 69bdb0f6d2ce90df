"""The command line as a user meets it (FAULTS section 8)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import fullrank
from fullrank.cli.main import app, main

ROWS = "user,item,rating,timestamp\n1,10,5,100\n1,20,3,200\n2,10,4,300\n"
COMMANDS = [command.callback.__name__ for command in app.registered_commands if command.callback]
FULLRANK = [sys.executable, "-c", "from fullrank.cli import main; main()"]


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    path.write_text(ROWS)
    return path


def run(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capfd.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["--version"], 0),
        (["data", "--help"], 0),
        (["nonsense"], 2),
        (["data"], 2),
        (["data", "x.csv", "--nonsense"], 2),
        (["data", "x.csv", "--columns"], 2),
        (["data", "x.csv", "--columns", "user"], 2),
        (["demo", "--seed", "many"], 2),
        (["demo", "--seed", "-1"], 2),
        (["compare"], 2),
        (["compare", "x.csv", "--tune", "-1"], 2),
        (["data", "no-such-file.csv"], 66),
    ],
)
def test_c1_exit_codes(capfd: pytest.CaptureFixture[str], arguments: list[str], code: int) -> None:
    found, out, err = run(capfd, *arguments)
    assert found == code
    if code:
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        assert out == ""


def test_describes_a_file(capfd: pytest.CaptureFixture[str], ratings: Path) -> None:
    code, out, err = run(capfd, "data", ratings, "--json")
    found = json.loads(out)
    assert (code, found["rows"], found["users"], found["items"]) == (0, 3, 2, 2)
    assert found["values"] == {"3": 1, "4": 1, "5": 1}
    assert found["intake"] == {"rows read": 3, "merged": 0, "dropped": {}}
    assert "3 rows read" in err
    assert "rows" in run(capfd, "data", ratings)[1]


def test_bad_data(capfd: pytest.CaptureFixture[str], ratings: Path, tmp_path: Path) -> None:
    ratings.write_text(ROWS + "2,20,five,400\n")
    code, out, err = run(capfd, "data", ratings)
    assert (code, out) == (65, "")
    assert err == f"error: {ratings}:5: value 'five' is not a number; correct or remove it.\n"
    code, out, err = run(capfd, "data", ratings, "--on-bad", "skip", "--json")
    assert json.loads(out)["intake"]["dropped"] == {"value is not a number": 1}
    bad = tmp_path / "bad.csv"
    assert run(capfd, "data", ratings, "--on-bad", "quarantine", "--quarantine", bad)[0] == 0
    assert bad.read_text().splitlines()[1].startswith("5,")


def test_columns_and_conversion(capfd: pytest.CaptureFixture[str], ratings: Path, tmp_path: Path) -> None:
    ratings.write_text("who;what\na;b\n")
    assert json.loads(run(capfd, "data", ratings, "--json")[1])["rows"] == 2  # words, and nothing says header
    target = tmp_path / "out.parquet"
    code, out, _ = run(capfd, "data", ratings, "--columns", "user=who,item=1", "--write", target, "--json")
    assert (code, json.loads(out)["rows"]) == (0, 1)  # a name given is a name in a header
    assert json.loads(run(capfd, "data", target, "--json")[1])["users"] == 1


def sessions(path: Path, header: str = "session,user,item,action") -> Path:
    """Ten people see the same three things in each of twenty sessions, and buy the last."""
    actions = ("shown", "clicked", "bought")
    rows = [f"{s},{s % 10},{item},{actions[item]}" for s in range(20) for item in range(3)]
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_sessions_are_read_as_compare_reads_them(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = sessions(tmp_path / "s.csv")
    scale = ["--scale", "shown,clicked,bought"]
    code, out, err = run(capfd, "data", path, "--kind", "sessions", *scale, "--json")
    found = json.loads(out)
    assert (code, found["kind"], found["cases"], found["rows"]) == (0, "sessions", 20, 60)
    assert found["intake"]["merged"] == 0
    assert run(capfd, "data", path, *scale, "--json")[1] == out  # its columns tell
    code, _, err = run(capfd, "data", path)
    assert (code, "actions need their scale" in err) == (2, True)
    code, _, err = run(capfd, "data", path, "--kind", "nonsense")
    assert (code, "write ratings, events, sessions, preferences" in err) == (2, True)
    code, _, err = run(capfd, "data", path, "--kind", "ratings", *scale)
    assert (code, "say --kind sessions" in err) == (2, True)
    code, _, err = run(capfd, "data", path, "--kind", "sessions", *scale, "--duplicates", "last")
    assert (code, "'duplicates' is no option" in err) == (2, True)


def test_sessions_taken_for_something_else_are_told(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = sessions(tmp_path / "s.csv", "session_id,user,item,what")
    code, _, err = run(capfd, "data", path)
    assert code == 0
    assert "30 of 60 rows were merged" not in err  # half is not yet most
    path.write_text(path.read_text() + path.read_text().split("\n", 1)[1])
    code, _, err = run(capfd, "data", path)
    assert "90 of 120 rows were merged as duplicates, and the column 'sessionid' was not read" in err
    assert "say --kind sessions" in err
    assert "sessionid" not in run(capfd, "data", path, "--columns", "user=session_id,item=item")[2]


def test_preferences_and_events(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("user,better,worse\n1,a,b\n2,b,a\n")
    assert json.loads(run(capfd, "data", path, "--json")[1])["kind"] == "preferences"
    path.write_text("user,item,count\n1,2,1\n1,2,3\n")
    found = json.loads(run(capfd, "data", path, "--kind", "events", "--json")[1])
    assert found["values"] == {"4": 1}
    assert run(capfd, "data", path, "--set", "catalogue=true")[0] == 2  # a file has no such option


def test_bare_fullrank_is_a_question(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capfd)
    assert (code, err) == (0, "")
    assert out == run(capfd, "--help")[1]
    assert out.startswith("Usage: fullrank [OPTIONS] COMMAND")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_helps(capfd: pytest.CaptureFixture[str], command: str) -> None:
    code, out, err = run(capfd, command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: fullrank {command} ")
    assert command in run(capfd)[1]


def test_a_mistake_is_told_with_what_was_meant(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(capfd, "compar") == (
        2, "", "error: No such command 'compar'. Did you mean 'compare'? See 'fullrank --help'.\n",
    )  # fmt: skip
    code, _, err = run(capfd, "data", "x.csv", "--colums", "a")
    assert code == 2
    assert "--columns" in err
    assert err.endswith(" See 'fullrank data --help'.\n")


def test_known_data_sets(capfd: pytest.CaptureFixture[str], shared_data: Path, tmp_path: Path) -> None:
    code, out, err = run(capfd, "data", shared_data / "ml-100k", "--json")
    assert (code, json.loads(out)["rows"]) == (0, 100_000)
    code, out, err = run(capfd, "data", shared_data / "coat", "--json")
    assert (json.loads(out)["train"]["rows"], json.loads(out)["held out"]["rows"]) == (6960, 4640)
    assert "366 cells" in err
    assert "held out" in run(capfd, "data", shared_data / "coat")[1]
    assert run(capfd, "data", shared_data / "coat", "--write", tmp_path / "x.csv")[0] == 2
    code, out, _ = run(capfd, "data", shared_data / "sushi", "--set", "which=scores", "--json")
    assert json.loads(out)["cases"] == 5000
    code, _, err = run(capfd, "data", shared_data / "sushi", "--set", "wich=scores")
    assert code == 2
    assert "Did you mean 'which'?" in err
    assert run(capfd, "data", "ml-1m", "--set", "catalogue")[0] == 2


def test_c14_offline(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refused(*_: object, **__: object) -> None:
        raise OSError("no network in this test")

    monkeypatch.setattr(socket, "create_connection", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    code, _, err = run(capfd, "data", "ml-100k", "--download", "--to", tmp_path)
    assert code == 66
    assert "cannot be reached" in err
    assert list(tmp_path.iterdir()) == []


def test_c2_output_exists(capfd: pytest.CaptureFixture[str], ratings: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    assert run(capfd, "data", ratings, "--write", target)[0] == 0
    before = target.read_bytes()
    code, _, err = run(capfd, "data", ratings, "--write", target)
    assert code == 73
    assert "--overwrite" in err
    assert run(capfd, "data", ratings, "--write", target, "--overwrite")[0] == 0
    assert target.read_bytes() == before
    assert run(capfd, "data", ratings, "--write", tmp_path / "none" / "x.csv")[0] == 73
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "ratings.csv"]


def test_c3_full_disk(ratings: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with open("/dev/full", "w") as full:
        done = subprocess.run([*FULLRANK, "data", str(ratings)], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 74
    assert b"error: " in done.stderr
    assert b"Traceback" not in done.stderr


def test_c3_closed_pipe(ratings: Path) -> None:
    command = ["bash", "-c", '"$@" | head -c 1', "-", *FULLRANK, "data", str(ratings)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_c4_standard_input(ratings: Path) -> None:
    piped = subprocess.run([*FULLRANK, "data", "-", "--json"], input=ROWS.encode(), capture_output=True, check=False)
    assert json.loads(piped.stdout)["rows"] == 3
    closed = subprocess.run(["bash", "-c", '"$@" <&-', "-", *FULLRANK, "data", "-"], capture_output=True, check=False)
    assert closed.returncode == 66
    binary = subprocess.run([*FULLRANK, "data", "-"], input=bytes(range(256)), capture_output=True, check=False)
    assert binary.returncode == 65


def test_c5_the_surroundings_change_nothing(tmp_path: Path) -> None:
    fullrank.write(fullrank.simulate.ratings(60, 50, density=0.3).data, tmp_path / "r.csv")

    def compared(out: str, **environment: str) -> bytes:
        env = {name: value for name, value in os.environ.items() if name not in ("HOME", "COLUMNS", "LANG")}
        command = [*FULLRANK, "compare", "r.csv", "--models", "allrank,bestseller", "--out", out]
        done = subprocess.run(command, capture_output=True, env=env | environment, check=True, cwd=tmp_path)
        return done.stdout

    plain = compared("a", HOME="/tmp", LANG="C.UTF-8")
    odd = {"LANG": "C", "TZ": "Pacific/Chatham", "COLUMNS": "1", "NO_COLOR": "1", "PYTHONHASHSEED": "5"}
    assert plain == compared("b", **odd, FULLRANK_THREADS="3")


@pytest.mark.parametrize("name", ["with space.csv", "new\nline.csv", "-leading.csv", "ünïcode.csv", "::.csv"])
def test_c6_names_of_files(capfd: pytest.CaptureFixture[str], ratings: Path, name: str) -> None:
    path = ratings.rename(ratings.with_name(name))
    assert run(capfd, "data", path, "--json")[0] == 0
    done = subprocess.run([*FULLRANK, "data", "--", name], cwd=path.parent, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_c6_a_name_that_is_no_utf8(ratings: Path) -> None:
    odd = os.path.join(os.fsencode(ratings.parent), b"odd\xff.csv")
    os.rename(ratings, odd)
    done = subprocess.run([*map(os.fsencode, FULLRANK), b"data", odd, b"--json"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_c11_interrupted(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    target = tmp_path / "out.csv"
    running = subprocess.Popen([*FULLRANK, "data", str(pipe), "--write", str(target)], stderr=subprocess.PIPE)
    with pipe.open("w") as out:  # opens when the command waits for data
        out.write(ROWS * 20_000)  # more than a pipe holds: all of it is taken only while the command reads
        out.flush()
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert err == b"error: interrupted.\n"
    assert not target.exists()


def test_warmup(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capfd, "warmup", "--json")
    assert code == 0
    assert json.loads(out)["kernels"] >= 1


def test_a_fault_of_ours_is_one_line(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr("fullrank.data.simulate.ratings", broken)
    code, out, err = run(capfd, "demo")
    assert (code, out) == (70, "")
    assert err.startswith("error: a fault of ours (report ")
    assert "secret" not in err
    assert "Traceback" in run(capfd, "--debug", "demo")[2]
