"""Both policy files of an installation, read together."""

from dataclasses import dataclass, field

from beleg.core.settings import Settings
from beleg.cost.modelfile import load_models
from beleg.cost.policy import ModelPolicies
from beleg.cost.workflows import WorkflowPolicies, load_workflows


@dataclass(frozen=True)
class Policies:
    """What a user decides about models and workflows."""

    models: ModelPolicies = field(default_factory=ModelPolicies)
    workflows: WorkflowPolicies = field(default_factory=WorkflowPolicies)


def load_policies(settings: Settings) -> Policies:
    """Read the project's policy files, else the shipped ones; raises UsageError that says what is wrong."""
    return Policies(load_models(settings.policy("models.yaml")), load_workflows(settings.policy("workflows.yaml")))
