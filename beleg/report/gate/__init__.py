"""The gate's report: one HTML file in which a release owner reads the verdict and why.

`gate_page` renders it from the evidence, the frozen cases and the answers that may be shown.
"""

from beleg.report.gate.page import gate_page, render

__all__ = ["gate_page", "render"]
