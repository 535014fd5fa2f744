"""Several publishers at once: `python -m tests.contract.promotion.publishers PROJECT COUNT [EPOCH]`.

Forks one process each, lets all go at the same moment, and prints as JSON what each says came of its own draft.
"""

import json
import os
import sys
from pathlib import Path

from beleg.contract import promotion
from beleg.contract.registry.shelf import Moved
from tests.contract.promotion.support import NOW, Project, asked, with_prompt


def publish(project: Project, number: int, epoch: int | None, gate: int) -> dict[str, str]:
    contract = with_prompt(project.contract(), f"Read the total, in the words of publisher {number}.")
    project.check(contract)
    os.read(gate, 1)  # ends when the parent closes its end, for all at once
    try:
        release = promotion.publish(
            project.feature, contract, project.registry, by=f"Publisher {number}",
            digest=contract.digest, epoch=epoch, ask=asked(), now=NOW,
        )  # fmt: skip
    except Moved as error:
        return {"moved": str(error)}
    return {"won": release.version, "digest": release.digest}


def main(root: str, publishers: int, epoch: int | None) -> None:
    project, children = Project(Path(root)), {}
    gate, opener = os.pipe()
    for number in range(publishers):
        answer, say = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(opener)
            os.write(say, json.dumps(publish(project, number, epoch, gate)).encode())
            os._exit(0)
        os.close(say)
        children[child] = answer
    os.close(opener)
    said = [os.read(answer, 10_000) for answer in children.values()]
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert statuses == [0] * publishers, statuses
    print(json.dumps([json.loads(each) for each in said]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else None)
