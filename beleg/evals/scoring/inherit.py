"""Answers to cases that stand unchanged in an earlier version of the dataset: they count in the new one too.

A dataset that grows by a case would otherwise be asked anew as a whole. What a result rests on is the case, by its
digest, and that is the same.
"""

from collections.abc import Callable, Collection
from dataclasses import replace

from beleg.core.settings import Settings
from beleg.evals.cases.dataset import Dataset, history
from beleg.evals.scoring.journal import Journal


def inherit(
    settings: Settings, journal: Journal, dataset: Dataset, digests: Collection[str], send: Callable[[bytes], None]
) -> None:
    """Take over the latest answers of some versions into the dataset's own journal, and send their results.

    Time, run and attempt stay those of the answer. Raises DamagedError for an earlier manifest that cannot be read.
    """
    earlier = [each for each in history(dataset.project, dataset.name) if each.version < dataset.version]
    for old in reversed(earlier):
        same = {case_id for case_id, digest in dataset.members.items() if old.members.get(case_id) == digest}
        found = Journal(settings, dataset.feature, old.digest)
        kept = found.answers()
        for key, entry in found.entries.items():
            now = key._replace(dataset_digest=dataset.digest)
            if key.case_id in same and key.digest in digests and entry.called and now not in journal.entries:
                results = tuple(replace(each, dataset_digest=dataset.digest) for each in entry.results)
                journal.write(replace(entry, results=results), send)
                if key in kept:
                    journal.keep_answer(now, kept[key])
