"""What all tests share: where real data lies and an installation of their own."""

import os
import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from beleg.core.settings import Settings
from beleg.lake import catalog

# Real files and databases take as long as they take; speed is measured in benchmarks/.
hypothesis_settings.register_profile("beleg", deadline=None)
hypothesis_settings.load_profile("beleg")


@pytest.fixture(scope="session")
def test_data() -> Path:
    """Folder of real inputs; the test is skipped without it, unless BELEG_REQUIRE_DATA=1 demands it."""
    path = os.environ.get("BELEG_TEST_DATA")
    if path and Path(path).is_dir():
        return Path(path)
    if os.environ.get("BELEG_REQUIRE_DATA") == "1":
        pytest.fail(f"BELEG_TEST_DATA={path!r} is no folder, and BELEG_REQUIRE_DATA=1 demands it")
    pytest.skip("real data needs BELEG_TEST_DATA")


@pytest.fixture(scope="session", autouse=True)
def templates_made_once(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """Half a second for each home that a process makes: the template is the same for all of them."""
    make, shared = catalog._template, tmp_path_factory.mktemp("templates")

    def made(settings: Settings) -> Path:
        path = settings.lake / f"_template-{catalog._documentation_digest()}.duckdb"
        kept = shared / path.name
        if kept.exists() and not path.exists():
            with catalog._beside(path) as beside:
                shutil.copyfile(kept, beside)
        made = make(settings)
        if not kept.exists():
            shutil.copyfile(made, kept)
        return made

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(catalog, "_template", made)
        yield


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """An installation of its own in a temporary folder."""
    home = tmp_path / "home"
    return Settings(home=home, spool=home / "spool")


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """A file system of some megabytes; needs the right to mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(disk)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("mounting a small file system is not allowed here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)
