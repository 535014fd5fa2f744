"""Signatures of approvals: SSH keys through `ssh-keygen -Y`, so that whoever signs commits can sign approvals.

`contracts/policies/approvers.yaml` says whose keys count:

    approvers:
      - name: Erika Muster
        keys: ["ssh-ed25519 AAAA… erika@laptop"]
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beleg.contract.registry.people import identity, person
from beleg.core import yamlfile
from beleg.core.errors import BelegError, UsageError

NAMESPACE = "beleg-approval"
_KEY = re.compile(r"(?P<key>(sk-)?(ssh|ecdsa)-[a-zA-Z0-9@.-]+ [A-Za-z0-9+/=]+)( .*)?\Z")
_TIMEOUT_S = 60


@dataclass(frozen=True)
class Approvers:
    """Whose signatures count. A person without a key here cannot approve."""

    keys: Mapping[str, tuple[str, ...]]
    """Identity of a person → public keys."""

    def doubt(self, by: str, message: bytes, signature: str | None) -> str | None:
        """Why a signature does not show that this person approved; None where it does."""
        keys = self.keys.get(identity(by))
        if keys is None:
            return "has no key in approvers.yaml"
        if signature is None:
            return "has not signed"
        return None if verify(message, signature, keys) else "has signed with a key that is not theirs"


def approvers(path: Path) -> Approvers | None:
    """Read `approvers.yaml`; None where there is no such file. Raises UsageError.

    One key under two names would let one person approve as two, so it is refused.
    """
    if not os.path.lexists(path):  # a link that leads nowhere is no consent to go without signatures
        return None
    values = yamlfile.load(path)
    rows = values.get("approvers") if isinstance(values, dict) else None
    if not isinstance(rows, list):
        raise UsageError(f"{path.name}: `approvers` must be a list of people with `name` and `keys`")
    keys: dict[str, tuple[str, ...]] = {}
    for row in rows:
        name, own = _row(row, path.name)
        taken = {key for others in keys.values() for key in others}
        if identity(name) in keys or taken & set(own):
            raise UsageError(f"{path.name}: {name} or one of their keys stands there twice; a key is one person's")
        keys[identity(name)] = own
    return Approvers(keys)


def _row(row: Any, file: str) -> tuple[str, tuple[str, ...]]:
    if not isinstance(row, dict) or set(row) != {"name", "keys"} or not isinstance(row["name"], str):
        raise UsageError(f"{file}: each approver has exactly `name` and `keys`")
    found = [_KEY.match(key) if isinstance(key, str) else None for key in _list(row["keys"])]
    if not found or None in found:
        raise UsageError(f"{file}: the keys of {row['name']} must be public SSH keys, as in id_ed25519.pub")
    return person(row["name"]), tuple(match["key"] for match in found if match)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def sign(message: bytes, key: Path) -> str:
    """The signature of a private key; asks its agent or for its passphrase as ssh-keygen does. Raises UsageError."""
    done = _ssh_keygen("sign", "-n", NAMESPACE, "-f", str(key), message=message)
    if done.returncode:
        raise UsageError(f"{key} cannot sign: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode()


def verify(message: bytes, signature: str, keys: tuple[str, ...]) -> bool:
    """Whether one of the keys made the signature."""
    with tempfile.TemporaryDirectory() as folder:
        allowed, armored = Path(folder) / "allowed_signers", Path(folder) / "signature"
        lines = (f'approver namespaces="{NAMESPACE}" {key}\n' for key in keys)
        allowed.write_text("".join(lines), encoding="utf-8")
        armored.write_text(signature, encoding="utf-8", errors="replace")
        words = ("-n", NAMESPACE, "-f", str(allowed), "-I", "approver", "-s", str(armored))
        return _ssh_keygen("verify", *words, message=message).returncode == 0


def _ssh_keygen(verb: str, *words: str, message: bytes) -> "subprocess.CompletedProcess[bytes]":
    command = ["ssh-keygen", "-Y", verb, *words]
    try:
        return subprocess.run(command, input=message, capture_output=True, check=False, timeout=_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BelegError(
            f"ssh-keygen could not {verb}: {error}; approvals are signed through OpenSSH 8.2 or newer"
        ) from error
