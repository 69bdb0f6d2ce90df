"""The k-th largest of many numbers, without sorting them."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from fullrank.runtime.compiling import kernel


@kernel
def kth_largest(x: NDArray[Any], k: int) -> Any:
    """The k-th largest of x, which is put in an order where the k largest come first."""
    low, high = 0, x.shape[0] - 1
    while low < high:
        pivot, left, right = x[(low + high) // 2], low, high
        while left <= right:
            while x[left] > pivot:
                left += 1
            while x[right] < pivot:
                right -= 1
            if left <= right:
                x[left], x[right] = x[right], x[left]
                left, right = left + 1, right - 1
        if k - 1 <= right:
            high = right
        elif k - 1 >= left:
            low = left
        else:
            break
    return x[k - 1]
