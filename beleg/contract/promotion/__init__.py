"""Making a version active: the one path, for people alone.

Publishing is promotion. Nothing of the pipeline can reach this package (tests/contract/promotion/test_reach.py).

`check` judges a draft and writes nothing; `publish` judges it in the same way and commits, if what it was
judged against still holds; `rollback` makes an earlier version active in one step. The prompts of workflows
without a contract have `add_prompt`, `activate_prompt` and `deactivate_prompt`.
"""

from beleg.contract.promotion.judging import check
from beleg.contract.promotion.prompts import activate_prompt, add_prompt, deactivate_prompt
from beleg.contract.promotion.publishing import NotReady, publish
from beleg.contract.promotion.readiness import Ask, Blocker, Override, Readiness
from beleg.contract.promotion.rolling_back import RolledBack, rollback

__all__ = [
    "Ask",
    "Blocker",
    "NotReady",
    "Override",
    "Readiness",
    "RolledBack",
    "activate_prompt",
    "add_prompt",
    "check",
    "deactivate_prompt",
    "publish",
    "rollback",
]
