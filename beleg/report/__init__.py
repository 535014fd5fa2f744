"""The report: one HTML file that needs nothing but itself."""

from beleg.report.render import render

__all__ = ["render"]
