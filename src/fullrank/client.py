"""A client of `fullrank serve`: `fullrank.client.Client("http://127.0.0.1:8000").recommend("model", "ann")`."""

from fullrank.serving.client import Client, ServiceError, UnreachableError

__all__ = ["Client", "ServiceError", "UnreachableError"]
