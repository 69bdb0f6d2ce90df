"""What a summing kernel calls has to be inlined: else its bits depend on which process compiled it."""

from __future__ import annotations

import ast
from pathlib import Path

import fullrank.kernels

FILES = sorted(Path(fullrank.kernels.__file__).parent.glob("*.py"))


def kernels() -> dict[str, tuple[str, ast.FunctionDef]]:
    """All compiled functions: how each is compiled, and its definition."""
    functions = (
        node for file in FILES for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)
    )
    named = ((node, node.decorator_list[0]) for node in functions if node.decorator_list)
    return {node.name: (how.id, node) for node, how in named if isinstance(how, ast.Name)}


def test_no_kernel_calls_a_summing_kernel() -> None:
    how = kernels()
    assert {kind for kind, _ in how.values()} == {"kernel", "summing_kernel", "summing_part"}
    for name, (_, node) in how.items():
        calls = {
            call.func.id for call in ast.walk(node) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        }
        assert not {callee for callee in calls & how.keys() if how[callee][0] == "summing_kernel"}, name
