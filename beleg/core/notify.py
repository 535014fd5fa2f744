"""Tells people that a run failed: by a webhook, by mail, or only in the log (dry run)."""

import json
import os
import smtplib
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

_TIMEOUT_S = 10


@dataclass(frozen=True)
class Notice:
    """What happened, in one line and in some."""

    subject: str
    text: str
    job: str
    run_id: str


@dataclass(frozen=True)
class Targets:
    """Who is told; empty means nobody."""

    webhook: str = ""
    """`BELEG_NOTIFY_WEBHOOK`: an http(s) address that takes a JSON object with `text`."""
    smtp: str = ""
    """`BELEG_NOTIFY_SMTP`: smtp[s]://user:password@host:port."""
    mail_to: str = ""
    """`BELEG_NOTIFY_MAIL`: addresses, comma-separated."""
    mail_from: str = "beleg@localhost"
    """`BELEG_NOTIFY_FROM`."""
    dry_run: bool = False
    """`BELEG_NOTIFY_DRY_RUN=1`: say what would be sent, word for word, and send nothing."""

    @classmethod
    def load(cls, environ: Mapping[str, str] = os.environ) -> "Targets":
        """Read the environment."""
        return cls(
            environ.get("BELEG_NOTIFY_WEBHOOK", ""),
            environ.get("BELEG_NOTIFY_SMTP", ""),
            environ.get("BELEG_NOTIFY_MAIL", ""),
            environ.get("BELEG_NOTIFY_FROM", "beleg@localhost"),
            environ.get("BELEG_NOTIFY_DRY_RUN") == "1",
        )


def tell(notice: Notice, targets: Targets) -> list[str]:
    """Tell everybody; returns what was done, in words. One who cannot be reached keeps nobody else from it."""
    ways: list[tuple[str, Callable[[Notice, Targets], None]]] = []
    if targets.webhook:
        ways.append((f"webhook {urlsplit(targets.webhook).hostname}", _post))
    if targets.smtp and targets.mail_to:
        ways.append((f"mail to {targets.mail_to}", _mail))
    return [_try(name, send, notice, targets) for name, send in ways]


def _try(name: str, send: Callable[[Notice, Targets], None], notice: Notice, targets: Targets) -> str:
    if targets.dry_run:
        return f"{name}: would send {notice.subject!r}: {notice.text}"
    try:
        send(notice, targets)
    except (OSError, smtplib.SMTPException, ValueError) as error:
        return f"{name}: not sent, {type(error).__name__}: {error}"
    return f"{name}: sent"


def _post(notice: Notice, targets: Targets) -> None:
    if urlsplit(targets.webhook).scheme not in {"http", "https"}:
        raise ValueError("BELEG_NOTIFY_WEBHOOK is no http or https address")
    body = {"text": f"{notice.subject}\n{notice.text}", "job": notice.job, "run_id": notice.run_id}
    headers = {"Content-Type": "application/json"}
    asked = urllib.request.Request(targets.webhook, json.dumps(body).encode(), headers)  # noqa: S310 - checked above
    with urllib.request.urlopen(asked, timeout=_TIMEOUT_S):  # noqa: S310 - checked above
        pass


def _mail(notice: Notice, targets: Targets) -> None:
    server = urlsplit(targets.smtp)
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = notice.subject, targets.mail_from, targets.mail_to
    mail.set_content(notice.text)
    kind = smtplib.SMTP_SSL if server.scheme == "smtps" else smtplib.SMTP
    with kind(server.hostname or "localhost", server.port or 0, timeout=_TIMEOUT_S) as smtp:
        if server.username:
            if server.scheme != "smtps":
                smtp.starttls()
            smtp.login(unquote(server.username), unquote(server.password or ""))
        smtp.send_message(mail)
