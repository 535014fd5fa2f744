"""Builds the wheel and tries it in an empty environment: a light import, a traced run, the shipped contracts."""

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

LIGHT = """
import sys
before = set(sys.modules)
import beleg
beleg.fingerprint({"a": 1})
outside = {m.split(".")[0] for m in set(sys.modules) - before} - set(sys.stdlib_module_names) - {"beleg"}
assert not outside, f"import beleg pulls in {sorted(outside)}"
with beleg.traced_agent_run(workflow="smoke", input_payload={"a": 1}) as trace:
    trace.set_output({"b": 2})
from beleg.core.paths import shipped
assert (shipped("contracts", "events") / "step" / "v1.schema.json").exists()
assert shipped("contracts", "policies").is_dir()
assert shipped("contracts", "metrics.yaml").exists()
assert (shipped("evals", "policies") / "gate.yaml").exists()
assert (shipped("contracts", "features") / "receipt-extraction" / "feature.yaml").exists()
baked = beleg.prompt("ocr", default="Read it.")
assert (baked.text, baked.source) == ("Read it.", "baked"), baked
assert (shipped("template", "pipelines") / "definitions.py").exists()
assert (shipped("template", "assets") / "marts.py").exists()
assert shipped("template", "dagster.yaml").exists()
from pathlib import Path
package = Path(beleg.__file__).parent
for folder in ("demo/sql", "demo/policies", "ingest/sql", "cost/sql", "lake/sql", "ask/sql", "report/sql", "checks/sql",
               "report/templates", "demo/features", "demo/registry", "demo/suites", "contract/compat",
               "report/gate/templates", "evals/cases/sql", "evals/findings/sql", "evals/gate/sql",
               "agent/example/playbooks"):
    assert any((package / folder).iterdir()), folder
for file in ("contract/document.schema.json", "contract/evidence.schema.json", "report/gate/texts.yaml"):
    assert (package / file).exists(), file
print("wheel: light import, a traced run and shipped contracts work in an empty environment")
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command, show its output where it fails."""
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> None:
    """Build, install without dependencies, try."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", work / "dist", cwd=ROOT)
        wheel = next((work / "dist").glob("*.whl"))
        venv.create(work / "empty", with_pip=True)
        python = work / "empty" / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=work)
        sys.stdout.write(run(python, "-c", LIGHT, cwd=work))
        shutil.rmtree(work / "empty")


if __name__ == "__main__":
    main()
