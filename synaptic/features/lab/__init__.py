"""Measures search on a person's own notes."""
