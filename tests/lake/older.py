"""An earlier release of Beleg: this tree with a column less, run in processes of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from beleg.core.settings import Settings

ROOT = Path(__file__).resolve().parents[2]


class OlderRelease:
    """A copy of the library whose contract of a table does not have a column yet."""

    def __init__(self, folder: Path, table: str, column: str) -> None:
        self.folder = folder
        for name in ("beleg", "contracts"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        self.without(table, column)

    def without(self, table: str, column: str) -> None:
        """Take a column out of a table's contract."""
        path = self.folder / "contracts" / "tables" / f"{table}.yaml"
        text = path.read_text(encoding="utf-8")
        without = re.sub(rf"^  - {{name: {column}, .*\n", "", text, flags=re.MULTILINE)
        assert without != text, f"{table} has no column {column} on a line of its own"
        path.write_text(without, encoding="utf-8")

    def with_integer_results(self) -> None:
        """Give `unit_costs.results` the narrower type that such a release might have had."""
        for suffix, now, then in (
            ("yaml", '{name: results, type: "DECIMAL(38,0)"', "{name: results, type: BIGINT"),
            ("sql", "CAST(sum(results) AS DECIMAL(38, 0)) AS results", "CAST(sum(results) AS BIGINT) AS results"),
        ):
            path = self.folder / "contracts" / "tables" / f"unit_costs.{suffix}"
            assert now in path.read_text()
            path.write_text(path.read_text().replace(now, then))

    def __call__(self, settings: Settings, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run its command."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("BELEG_")}
        env |= {"BELEG_HOME": str(settings.home), "PYTHONPATH": str(self.folder)}
        command = [sys.executable, "-m", "beleg.cli.main", *arguments]
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=False)
