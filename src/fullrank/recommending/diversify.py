"""How lists are made diverse, or calibrated: a name, how much, and by what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self, get_args

from fullrank.errors import ParameterError, check, did_you_mean, is_number

Way = Literal["mmr", "calibrated"]
WAYS: list[str] = list(get_args(Way))


@dataclass(frozen=True)
class Diversify:
    """Lists picked one item at a time, weighing relevance against what is in the list already.

    Relevance is the score, scaled to 0..1 over a person's pool of candidates. `share` is from 0 (relevance alone) to 1.

    - "mmr" (Carbonell and Goldstein 1998): (1 - share) relevance - share (similarity to the most similar chosen item).
      `by` names the column of attributes whose words make items similar (their cosine), or "vectors" for those of the
      model; without it all attributes where they are given, else the vectors.
    - "calibrated" (Steck 2018): (1 - share) sum of relevance - share KL(p, 0.99 q + 0.01 p), where p and q are the
      distributions of genres over what the person had (the rows that count to the model) and over the list. `by` names
      their column; without it the one that has several values in a cell.

    >>> Diversify.parse("calibrated:0.5:genres")
    Diversify(way='calibrated', share=0.5, by='genres')
    >>> str(Diversify("mmr", 0.3))
    'mmr:0.3'
    """

    way: Way
    share: float
    by: str | None = None

    def __post_init__(self) -> None:
        check("way", self.way, self.way in WAYS, " or ".join(repr(way) for way in WAYS))
        check("share", self.share, is_number(self.share) and 0 <= self.share <= 1, "a number from 0 to 1")

    @classmethod
    def parse(cls, text: str) -> Self:
        """From how it is written: mmr:0.3, calibrated:0.5:genres."""
        way, _, rest = text.partition(":")
        number, _, by = rest.partition(":")
        if way not in WAYS:
            raise ParameterError(f"diversify: '{way}' is no way. {did_you_mean(way, WAYS)}")
        try:
            return cls(way, float(number), by or None)  # type: ignore[arg-type]
        except ValueError:
            raise ParameterError(f"diversify: {text!r} is not like mmr:0.3, with a number from 0 to 1.") from None

    def __str__(self) -> str:
        return f"{self.way}:{self.share:g}" + (f":{self.by}" if self.by else "")
