"""The log, loaded when there is something to say."""


def warn(text: str, *values: object) -> None:
    """A line in the log of the library."""
    import logging  # noqa: PLC0415 - takes a tenth of the time of a cold start

    logging.getLogger("beleg").warning(text, *values)
