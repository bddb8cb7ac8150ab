"""A result as one HTML page that needs nothing else: neither a network nor other files."""

from plait.report.html.page import to_html

__all__ = ["to_html"]
