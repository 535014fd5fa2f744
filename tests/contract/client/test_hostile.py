"""Any byte may be wrong, and any number of processes may look while others publish."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beleg.contract.client import errors
from beleg.contract.client.load import load
from tests.contract.client.conftest import new_process
from tests.contract.client.released import FEATURE, Shop, contract
from tests.contract.client.test_cold import ROOT


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@pytest.mark.parametrize("where", ["registry", "cache"])
def test_wrong_byte_anywhere_changes_nothing_that_is_served(tmp_path: Path, data: st.DataObject, where: str) -> None:
    shop = Shop(tmp_path / "registry")
    if shop.registry.head(FEATURE) is None:
        shop.publish("1.0.0")
        shop.publish("1.1.0", contract(change_note="second"))
    new_process()
    load(FEATURE, major=1)
    path = data.draw(st.sampled_from(sorted((tmp_path / where).rglob("*.json"))))
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255))
    path.write_bytes(data.draw(st.sampled_from([whole[:place] + bytes([byte]) + whole[place + 1 :], whole[:place]])))
    try:
        new_process()
        served = load(FEATURE, major=1)
        assert (served.version, served.contract) == ("1.1.0", contract(change_note="second"))
    except errors.Tampered:
        assert where == "registry"
    finally:
        path.write_bytes(whole)


READER = f"""
import sys
from beleg.contract.client import load as module
last = (0, 0, 0)
print("ready", flush=True)
while last < (1, 19, 0):
    module._held.clear()
    feature = module.load({FEATURE!r}, major=1)
    now = tuple(map(int, feature.version.split(".")))
    assert now >= last, (now, last)
    assert feature.contract.change_note == feature.version
    last = now
"""


def test_processes_that_share_a_cache_see_whole_versions_in_order_while_others_publish(shop: Shop) -> None:
    shop.publish("1.0.0", contract(change_note="1.0.0"))
    command = [sys.executable, "-c", READER]
    readers = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    for reader in readers:
        assert reader.stdout is not None
        reader.stdout.readline()
    for minor in range(1, 20):
        shop.publish(f"1.{minor}.0", contract(change_note=f"1.{minor}.0"))
    for reader in readers:
        _, said = reader.communicate(timeout=60)
        assert reader.returncode == 0, said.decode()
