"""Makes a claim of each accepted correction, or says why it cannot be one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from beleg.contract.draft import features
from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.core.values import stored_workflows
from beleg.evals.cases import pointer as pointers
from beleg.evals.cases.case import Expectation
from beleg.evals.cases.claims import Claim
from beleg.evals.cases.decisions import CRITICAL, FAMILY, SETTLES, Decision
from beleg.evals.cases.pending import Pending, Unfit
from beleg.evals.cases.policy import CasePolicy
from beleg.evals.cases.values import fingerprint_under, json_value, storable

Row = dict[str, Any]


class Started(NamedTuple):
    """What only the start of a run tells."""

    labels: Mapping[str, str]
    input_key: str | None
    canon_version: str | None


class Reader:
    """Makes claims of corrections."""

    def __init__(
        self,
        settings: Settings,
        project: Path,
        said: Mapping[str, list[Row]],
        bound: Mapping[str, list[Row]],
        started: Mapping[str, Started],
    ) -> None:
        self.said, self.bound, self.started = said, bound, started
        self.policy = CasePolicy.load(project)
        self.stored = stored_workflows(settings)
        self.features: dict[str, list[str]] = {}
        for feature in features(project):
            self.features.setdefault(feature.workflow, []).append(feature.name)

    def claims(self, accepted: Mapping[str, Decision]) -> tuple[list[Claim], list[Pending]]:
        """Claims of what was accepted, and what becomes none."""
        claims, pending = [], []
        for one, decision in sorted(accepted.items()):
            try:
                claims.append(self._claim(one, decision))
            except Unfit as unfit:
                by = decision.acceptance
                pending.append(Pending(one, unfit.code, unfit.detail, by.by, by.at))
        return claims, pending

    def _claim(self, one: str, decision: Decision) -> Claim:
        row, runs = self._correction(one), self._runs(one)
        if (row["revised_at"] or "") > decision.acceptance.at:
            raise Unfit("revised")
        run = runs[-1]
        if run["input_hash"] is None:
            raise Unfit("no_input_hash")
        if not pointers.is_pointer(row["field"]):
            raise Unfit("bad_field")
        feature = self._feature(run)
        reference = row["input_ref"] or run["input_ref"]
        if reference is None:
            raise Unfit("no_input_ref")
        start = self.started.get(run["run_id"], Started({}, None, None))
        grouping = self.policy.of(feature)
        return Claim(
            correction=one,
            feature=feature,
            workflow=run["workflow"],
            input_ref=reference,
            input_hash=run["input_hash"],
            hash_key_id=run["hash_key_id"],
            canon_version=start.canon_version,
            field=row["field"],
            expectation=self._expectation(row, run),
            reason=row["reason"],
            author=row["author_hash"],
            said_at=row["at"],
            runs=tuple(sorted(each["run_id"] for each in runs)),
            acceptance=decision.acceptance,
            family=decision.labels.get(FAMILY) or grouping.family(run["tenant"], start.input_key, start.labels),
            slices={**grouping.tags(start.labels), **decision.slices},
            critical=decision.labels.get(CRITICAL) == "true",
            settles=decision.labels.get(SETTLES) == "true",
        )

    def _correction(self, one: str) -> Row:
        rows = self.said.get(one, [])
        if not rows:
            raise Unfit("unknown")
        if len(rows) > 1:
            raise Unfit("same_id", ", ".join(sorted({row["source"] for row in rows})))
        return rows[0]

    def _runs(self, one: str) -> list[Row]:
        """The runs that a correction is about, all of one input."""
        rows = self.bound.get(one, [])
        if not rows:
            raise Unfit("not_bound_yet")
        if rows[0]["run_id"] is None:
            raise Unfit("unbound", rows[0]["unbound_reason"])
        if any(row["fingerprints_agree"] is False for row in rows):
            raise Unfit("fingerprints_differ")
        inputs = {tuple(row[name] for name in ("workflow", "tenant", "hash_key_id", "input_hash")) for row in rows}
        unlisted = rows[0]["how"] == "output" and rows[0]["candidates"] > len(rows)
        if len(inputs) > 1 or unlisted:
            raise Unfit("ambiguous", f"{rows[0]['candidates']} runs")
        return rows

    def _feature(self, run: Row) -> str:
        serving = self.features.get(run["workflow"], [])
        if run["feature"] in serving:
            return str(run["feature"])
        if len(serving) > 1:
            raise Unfit("several_features", ", ".join(serving))
        if not serving:
            raise Unfit("no_feature", run["workflow"])
        return serving[0]

    def _expectation(self, row: Row, run: Row) -> Expectation:
        if row["expected"] is None:
            if row["expected_hash"] is None:
                raise Unfit("no_expected")
            return Expectation(hash=row["expected_hash"])
        try:
            value = storable(json_value(row["expected"]))
        except (ValueError, UsageError):
            raise Unfit("unstorable") from None
        if run["workflow"] in self.stored:
            return Expectation(value)
        digest = fingerprint_under(value, run["hash_key_id"])
        if digest is None:
            raise Unfit("key_missing", str(run["hash_key_id"]))
        return Expectation(hash=digest)
