"""Text in other encodings, read as UTF-8: everything after this knows one encoding only."""

from __future__ import annotations

import codecs

from fullrank.data.reading.stream import Stream
from fullrank.errors import DataError, ParameterError

BLOCK = 1 << 20


def codec(encoding: str) -> codecs.CodecInfo:
    """What decodes it, or a refusal."""
    try:
        info = codecs.lookup(encoding)
        "".encode(encoding)  # not bytes to bytes, such as zlib
    except (LookupError, TypeError, ValueError):
        raise ParameterError(
            f"The 'encoding' parameter must be one that Python knows, such as 'utf-8', 'latin-1' or 'cp1252'. "
            f"Got {encoding!r} instead."
        ) from None
    return info


def as_utf8(stream: Stream, encoding: str) -> Stream | Transcoded:
    """The stream itself, or one that decodes it."""
    return stream if codec(encoding).name == "utf-8" else Transcoded(stream, encoding)


class Transcoded:
    """A stream whose bytes become UTF-8. What cannot be decoded is no valid UTF-8 afterwards, either.

    So it is refused with its line, like any other bad row.
    """

    def __init__(self, stream: Stream, encoding: str) -> None:
        self.stream, self.encoding = stream, encoding
        self._decoder = codec(encoding).incrementaldecoder(errors="surrogateescape")
        self._ahead, self._ended = b"", False
        self.expanded = 0

    @property
    def name(self) -> str:
        return self.stream.name

    @property
    def size(self) -> int | None:
        return self.stream.size

    @property
    def consumed(self) -> int:
        return self.stream.consumed

    def read(self, n: int) -> bytes:
        """The next n bytes; fewer only at the end."""
        parts, size = [self._ahead], len(self._ahead)
        while size < n and not self._ended:
            block = self.stream.read(BLOCK)
            self._ended = len(block) < BLOCK
            parts.append(self._decode(block))
            size += len(parts[-1])
        data = b"".join(parts)
        data, self._ahead = data[:n], data[n:]
        self.expanded += len(data)
        return data

    def _decode(self, block: bytes) -> bytes:
        try:
            return self._decoder.decode(block, self._ended).encode(errors="surrogatepass")
        except UnicodeError as error:
            raise DataError(f"{self.name}: this is not {self.encoding} ({error}); give the right encoding.") from error
