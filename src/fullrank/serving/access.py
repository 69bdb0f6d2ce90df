"""Who may ask: by which host, with which key."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path

from fullrank.errors import ConfigError, NoInputError
from fullrank.serving.problems import Problem

SHORTEST = 16  # characters of a key
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Whether only this machine gets there.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("")
    (True, True, False, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_keys(path: Path) -> Keys:
    """The keys of a file, one in every line; lines that begin with # are remarks."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is no text; put a key in every line.") from None
    except OSError as error:
        raise NoInputError(f"{path}: cannot be read ({error.strerror or error}).") from None
    keys = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    for number, key in enumerate(keys, start=1):
        if len(key) < SHORTEST or not key.isascii() or not key.isprintable() or " " in key:
            raise ConfigError(
                f"{path}: key {number} is no key; use {SHORTEST} or more letters, digits and signs, without blanks."
            )
    if not keys:
        raise ConfigError(f"{path}: there is no key in it; put one in every line.")
    return Keys.of(keys)


@dataclass(frozen=True, repr=False)
class Keys:
    """Keys, by their hashes: what is compared has one length, and takes as long for every key that is sent."""

    hashes: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, keys: Iterable[str]) -> Keys:
        """These keys."""
        return cls(tuple(sha256(key.encode()).digest() for key in keys))

    def check(self, headers: dict[bytes, bytes]) -> None:
        """Refuse who has none of them, in `Authorization: Bearer KEY` or `X-API-Key: KEY`; without keys nobody."""
        if not self.hashes:
            return
        kind, _, bearer = headers.get(b"authorization", b"").partition(b" ")
        sent = headers.get(b"x-api-key") or (bearer.strip() if kind.lower() == b"bearer" else b"")
        found, own = False, sha256(sent).digest()
        for known in self.hashes:  # all of them, whichever it is
            found |= hmac.compare_digest(own, known)
        if not found or not sent:
            raise Problem(
                401, "a key is needed: send it as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'.",
                {"www-authenticate": "Bearer"},
            )  # fmt: skip


@dataclass(frozen=True)
class Hosts:
    """The names the service goes by; a page of another name that leads here (DNS rebinding) gets nothing."""

    allowed: frozenset[str] = LOCAL

    def check(self, headers: list[bytes], server: str | None) -> None:
        """Refuse what was sent to another name; the address that was connected to is one of ours."""
        if len(headers) != 1:
            raise Problem(400, "a request has one Host header; send one.")
        host = host_name(headers[0].decode("latin-1"))
        if host not in self.allowed and host != (server or "").lower():
            raise Problem(421, "this service does not go by that name; whoever runs it can allow it (--allow-host).")


def host_name(header: str) -> str:
    """The name in a Host header, without its port.

    >>> host_name("LocalHost:8000"), host_name("[::1]:80"), host_name("a.example.")
    ('localhost', '::1', 'a.example')
    """
    text = header.strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0].rstrip(".")
