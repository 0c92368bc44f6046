"""Diaries in one file, in the forms in which people keep them."""

from __future__ import annotations

from datetime import UTC, datetime

from synaptic.notes.reading import parse_entries

NOW = datetime(2026, 11, 21, tzinfo=UTC)
DAYS = """---
tags: [life]
---
# My diary

## 2026-03-14

It rained. We stayed in.

### Evening

Dinner with Ada.

## Ideas

A boat.

## 2026-03-15: At sea #sea

Wind.

## Mon, March 16th, 2026

Home <private>with Bo</private> again.
"""
LATEST_FIRST = """# 16 March 2026

Latest.

## Morning

coffee

# 15 March 2026

Middle.

# 14 March 2026

Oldest.
"""
JRNL = (
    "# 2026\n\n## March\n\n### 2026-03-14 21:10 At sea @boat\n\nbody one\n\n### 2026-03-15 "
    "09:10 Home\n\n"
)
JRNL += "#### a\n\nb\n\n## April\n\n### 2026-04-01 07:00:05 AM The joke\n\nbody three\n"


def read(text: str, path: str = "diary.md") -> list[tuple[str, str, str]]:
    """(day and time, title, content) of each entry."""
    entries = parse_entries(text.encode(), path, mtime=NOW).entries
    when = (
        f"{one.date} {one.time}" if one.timed else one.date if one.dated else ""
        for one in entries
    )
    return [(at, one.title, one.content) for at, one in zip(when, entries, strict=True)]
