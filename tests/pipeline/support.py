"""An installation whose flow is run by Dagster, in this process."""

from pathlib import Path
from typing import Any

import dagster as dg

from pipelines.definitions import defs
from pipelines.partitions import today
from pipelines.resources import Installation as Resource
from tests.events import lines
from tests.flow.support import AS_OF, Installation

QUIET = {"console": {"config": {"log_level": "CRITICAL"}}}


class Pipeline(Installation):
    """Events go through the spool, as an application's do."""

    def __init__(self, home: Path, instance: dg.DagsterInstance) -> None:
        super().__init__(home)
        self.instance = instance
        self.settings.spool.mkdir(parents=True)
        self.resource = Resource(home=str(self.settings.home), as_of=AS_OF.isoformat())

    def arrive(self, *events: dict[str, Any], name: str | None = None) -> Path:
        self._files += 1
        path = self.settings.spool / (name or f"{self._files:04d}.jsonl")
        with path.open("ab") as file:
            file.write(lines(*events))
        return path

    def refresh(self, **config: Any) -> dg.ExecuteInProcessResult:
        return defs.resolve_job_def("refresh").execute_in_process(
            instance=self.instance,
            partition_key=today(),
            resources={"installation": self.resource},
            run_config={**config, "loggers": QUIET},
            raise_on_error=False,
        )

    def backfill(self, first: str, last: str) -> dg.ExecuteInProcessResult:
        """What the page launches for a range of days: one run over all of them."""
        tags = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}
        return dg.materialize(
            [asset for asset in defs.assets or () if isinstance(asset, dg.AssetsDefinition)],
            selection=dg.AssetSelection.groups("marts") | dg.AssetSelection.assets("publication"),
            instance=self.instance,
            resources={"installation": self.resource},
            tags=tags,
            raise_on_error=False,
        )

    def days(self, asset: str) -> set[str]:
        return set(self.instance.get_materialized_partitions(dg.AssetKey(asset)))

    def made(self, result: dg.ExecuteInProcessResult, asset: str) -> set[str]:
        """Days that one run recorded as made; '' for the asset as a whole."""
        return {m.partition or "" for m in result.asset_materializations_for_node(asset)}

    def checks(self, result: dg.ExecuteInProcessResult) -> dict[str, bool]:
        found = result.get_asset_check_evaluations()
        return {f"{e.asset_key.to_user_string()}.{e.check_name}": e.passed for e in found}


def failed_steps(result: dg.ExecuteInProcessResult) -> set[str]:
    return {str(event.step_key) for event in result.all_events if event.is_step_failure}
