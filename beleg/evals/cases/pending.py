"""What keeps something accepted out of a dataset."""

from collections.abc import Mapping
from dataclasses import dataclass

REASONS: Mapping[str, str] = {
    "unknown": "the lake knows no such correction: `beleg run` takes in what is new",
    "same_id": "several corrections bear that id: accept one that has an id of its own",
    "revised": "its source changed it after it was accepted: look at it again, and accept it again",
    "not_bound_yet": "it is not bound to a run yet: `beleg run` does it",
    "unbound": "it is bound to no run",
    "ambiguous": "it fits runs with different inputs: correct the run by its id, and accept that",
    "fingerprints_differ": "it names a run and another input or result than the run's: one of them is wrong",
    "no_input_hash": "the run has no fingerprint of its input, so nobody could check the input",
    "no_input_ref": "nothing says where the input is: `beleg cases accept … --input-ref` does",
    "no_expected": "it does not say what is right: `beleg cases accept … --expected` does",
    "bad_field": "its field is no JSON pointer",
    "unstorable": "what it expects cannot be written as JSON",
    "key_missing": "what it expects is to be hashed, and its key is not in BELEG_HASH_KEYS",
    "no_feature": "no feature of the project serves its workflow: contracts/features/<feature>/feature.yaml",
    "several_features": "several features serve its workflow, and the run names none of them",
    "no_dataset": "its feature's draft names no dataset: the case is frozen, and in none",
    "retired": "its case was retired before: `beleg cases add` brings it back",
}
"""Why something accepted is no case of a dataset, in words."""


@dataclass(frozen=True)
class Pending:
    """Something accepted that is in no dataset."""

    subject: str
    code: str
    """One of `REASONS`."""
    detail: str = ""
    by: str | None = None
    at: str | None = None

    @property
    def reason(self) -> str:
        """Why, in words."""
        return f"{REASONS[self.code]} ({self.detail})" if self.detail else REASONS[self.code]


class Unfit(Exception):
    """A correction becomes no claim; says why."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code)
        self.code, self.detail = code, detail
