"""What goes wrong with tools, named by its consequence."""

from beleg.core.errors import UsageError


class BindingRefused(UsageError):
    """A tool that binds somebody was declared for an agent; nothing was registered."""


class ToolUnknown(UsageError):
    """A tool was called that was not offered. Whether it exists for somebody else is not told."""


class ArgumentsRefused(UsageError):
    """Arguments do not meet the tool's schema; nothing was called. Names places and rules, never values."""
