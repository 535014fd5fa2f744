"""What can go wrong, named by its consequence.

BelegError
├── UsageError    the call was wrong: exit code 2
├── CheckFailed   the thing asked about failed: exit code 1
└── DamagedError  input or store is damaged: exit code 4
"""


class BelegError(Exception):
    """Base of all errors that Beleg raises on purpose; `exit_code` is what the command returns."""

    exit_code = 1


class CheckFailed(BelegError):
    """The thing asked about failed: a check, a gate, a share past its limit."""

    exit_code = 1


class UsageError(BelegError):
    """The call, a setting, a policy or a mapping is wrong; the message says what would be right."""

    exit_code = 2


class DamagedError(BelegError):
    """Input or store is damaged; nothing was changed."""

    exit_code = 4
