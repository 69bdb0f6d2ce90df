"""What the service counts, in Prometheus' text form."""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)  # seconds


class Metrics:
    """The counters of one application; routes are labelled by their templates, so that there are few."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        make: dict[str, Any] = {"registry": self.registry}
        self.seconds = Histogram(
            "fullrank_request_seconds", "From the first byte to the answer.", ["route"], buckets=BUCKETS, **make
        )
        self.requests = Counter("fullrank_requests", "Answers by route and status.", ["route", "status"], **make)
        self.fallbacks = Counter("fullrank_fallbacks", "Lists of what is popular.", ["model"], **make)
        self.events = Counter("fullrank_events", "Events that were acknowledged.", **make)
        self.offers_lost = Counter("fullrank_offers_lost", "Lists that the store could not keep.", **make)
        self.shed = Counter("fullrank_shed", "Requests that were put off because of too many others.", **make)
        self.swaps = Counter("fullrank_swaps", "Models that were swapped in.", ["model"], **make)
        self.waiting = Gauge("fullrank_waiting_requests", "Requests that are under way or put off.", **make)
        self.connections = Gauge("fullrank_connections", "Open connections.", **make)
        self._children: dict[tuple[str, int], tuple[Any, Any]] = {}

    def count(self, route: str, status: int, seconds: float) -> None:
        """Note an answer."""
        both = self._children.get((route, status))
        if both is None:
            both = self.requests.labels(route, str(status)), self.seconds.labels(route)
            self._children[route, status] = both
        both[0].inc()
        both[1].observe(seconds)

    def text(self) -> bytes:
        """All of them."""
        return bytes(generate_latest(self.registry))
