"""The verb that publishes is absent from the pipeline: no chain of imports leads there."""

import grimp
import pytest

FORBIDDEN = "beleg.contract.promotion"
PIPELINE = ("assets", "pipelines", "beleg.flow", "beleg.work")


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("assets", "pipelines", "beleg", cache_dir=None)


def ways(graph: grimp.ImportGraph) -> list[tuple[str, ...]]:
    """The shortest chain from each module of the pipeline to each of promotion, imports inside functions included."""
    starts = {
        module
        for module in graph.modules
        if module.startswith(tuple(f"{each}." for each in PIPELINE)) or module in PIPELINE
    }
    ends = {FORBIDDEN, *graph.find_descendants(FORBIDDEN)}
    assert len(starts) > 10
    assert len(ends) > 5
    found = (
        graph.find_shortest_chain(importer=start, imported=end) for start in sorted(starts) for end in sorted(ends)
    )
    return [chain for chain in found if chain]


def test_no_module_of_the_pipeline_reaches_promotion(graph: grimp.ImportGraph) -> None:
    assert ways(graph) == []


def test_a_way_through_other_modules_would_be_found(graph: grimp.ImportGraph) -> None:
    graph.add_import(importer="beleg.core.settings", imported="beleg.contract.promotion.publishing")
    try:
        assert any(chain[0].startswith("assets.") for chain in ways(graph))
    finally:
        graph.remove_import(importer="beleg.core.settings", imported="beleg.contract.promotion.publishing")


def test_reading_a_registry_brings_no_writer_along(graph: grimp.ImportGraph) -> None:
    for reader in (
        "beleg.contract.registry.records",
        "beleg.contract.registry.registry",
        "beleg.contract.registry.verify",
    ):
        for end in (FORBIDDEN, *graph.find_descendants(FORBIDDEN)):
            assert not graph.chain_exists(importer=reader, imported=end)
