"""The rooms of the code and who imports whom, as a picture: `make picture` writes architecture.svg.

Rooms and their order are those of the contract in pyproject.toml, what each is for is the first sentence of its own
docstring, and a dot is an import that is in the code.
"""

from __future__ import annotations

import ast
import tomllib
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
PICTURE = HERE / "architecture.svg"
CELL, ROW, TEXT, TOP, EDGE, SLANT = 26, 46, 740, 120, 14, 40  # in pixels; the last is room for slanted names
STYLE = """
text { font-family: system-ui, sans-serif; font-size: 12px; fill: #303a48 }
.room { font-family: ui-monospace, monospace; font-size: 14px; font-weight: 600; fill: #10202f }
.inside { fill: #5b6776 }
.paper { fill: #fbfbf9; stroke: #c9ced6 }
.layer { fill: #eef1f5 }
.self { fill: #c9ced6 }
.dot { fill: #0b6bb3 }
"""


def layers(pyproject: Path) -> list[list[str]]:
    """The rooms from top to bottom; those beside each other do not import each other."""
    contracts = tomllib.loads(pyproject.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    lines = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [[name.strip() for name in line.split("|")] for line in lines]


def modules(package: Path, room: str) -> list[Path]:
    """The files of a room, which is a module or a package."""
    alone = package / f"{room}.py"
    return [alone] if alone.exists() else sorted((package / room).rglob("*.py"))


def purpose(package: Path, room: str) -> str:
    """The first line of the room's docstring."""
    tree = ast.parse(modules(package, room)[0].read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or "").partition("\n")[0]


def inside(package: Path, room: str) -> list[str]:
    """The packages in a room."""
    return sorted(path.parent.name for path in (package / room).glob("*/__init__.py"))


def imported(package: Path, room: str) -> set[str]:
    """The other rooms that a room imports, at the top of a file or where they are used."""
    names = set()
    for path in modules(package, room):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module == package.name:
                names |= {f"{package.name}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
    rooms = {name.split(".")[1] for name in names if name.startswith(f"{package.name}.")}
    return rooms - {room}


def draw(package: Path, pyproject: Path) -> str:
    """The picture: a row for every room, a column for every room that may be imported."""
    order = layers(pyproject)
    rooms = [room for layer in order for room in layer]
    width, height = TEXT + CELL * len(rooms) + SLANT + 2 * EDGE, TOP + ROW * len(rooms) + 2 * EDGE
    left = [EDGE + TEXT + CELL * n + CELL / 2 for n in range(len(rooms))]  # the middle of each column
    top = [EDGE + TOP + ROW * n for n in range(len(rooms))]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>The rooms of {package.name}, from top to bottom, and which of the others each one imports</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="10"/>',
        f'<text x="{EDGE + 12}" y="{EDGE + TOP - 12}">A room imports only from rooms below it. '
        "A dot: the room on the left imports the one above the column.</text>",
    ]
    for layer in order:
        first, last = top[rooms.index(layer[0])], top[rooms.index(layer[-1])]
        box = f'x="{EDGE}" y="{first + 2}" width="{width - 2 * EDGE}" height="{last - first + ROW - 4}" rx="6"'
        parts.append(f'<rect class="layer" {box}/>')
    for room, x, y in zip(rooms, left, top, strict=True):
        parts.append(f'<text class="room" transform="translate({x + 5} {EDGE + TOP - 8}) rotate(-60)">{room}</text>')
        parts.append(f'<text class="room" x="{EDGE + 12}" y="{y + ROW / 2 + 5}">{room}</text>')
        lines = [escape(purpose(package, room)), ", ".join(inside(package, room))]
        shown = [line for line in lines if line]
        for number, (line, style) in enumerate(zip(shown, ("", "inside"), strict=False)):
            below = ROW / 2 + 4 + 16 * number - 8 * (len(shown) - 1)
            parts.append(f'<text class="{style}" x="{EDGE + 140}" y="{y + below}">{line}</text>')
        parts.append(f'<rect class="self" x="{x - 5}" y="{y + ROW / 2 - 5}" width="10" height="10" rx="2"/>')
        for other in sorted(imported(package, room) & set(rooms), key=rooms.index):
            where = f'cx="{left[rooms.index(other)]}" cy="{y + ROW / 2}"'
            parts.append(f'<circle class="dot" {where} r="6"><title>{room} imports {other}</title></circle>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(draw(HERE.parent / "src" / "fullrank", HERE.parent / "pyproject.toml"), encoding="utf-8")
    print(PICTURE.relative_to(Path.cwd()) if PICTURE.is_relative_to(Path.cwd()) else PICTURE.name)
