"""The pages of upkeep: review, inbox, health and statistics."""

from __future__ import annotations

from starlette.routing import Route

ROUTES: list[Route] = []
