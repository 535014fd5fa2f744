"""What a span tells for naming its run: service, workflow, agent, session, tenant, prompt and metadata."""

from collections.abc import Mapping
from typing import Any

from beleg.ingest.readers.parsing import parsed
from beleg.trace import semconv_names as names

Facts = dict[str, Any]

NAMES: dict[str, tuple[str, ...]] = {
    "workflow": names.WORKFLOW_NAME,
    "agent": names.AGENT,
    "trace": ("langfuse.trace.name",),
    "project": ("openinference.project.name", "langsmith.trace.session_name"),
    "session": names.CONVERSATION,
    "user": ("user.id", "langfuse.user.id", "enduser.id", "traceloop.association.properties.user_id"),
    "tenant": ("tenant.id", "tenant", "traceloop.association.properties.tenant_id"),
    "environment": ("deployment.environment.name", "deployment.environment", "langfuse.environment"),
    "release": ("langfuse.release", "service.version"),
    "tag": ("tag.tags", "langfuse.trace.tags"),
    "prompt.name": ("gen_ai.prompt.name", "langfuse.observation.prompt.name", "traceloop.prompt.key", "prompt.id"),
    "prompt.version": (
        "gen_ai.prompt.version",
        "langfuse.observation.prompt.version",
        "llm.prompt_template.version",
        "traceloop.prompt.version",
    ),
}
"""Fact → attributes of a span or its resource that tell it, the better known first."""
_METADATA = ("langfuse.trace.metadata.", "traceloop.association.properties.", "ai.telemetry.metadata.")


def facts_of(attributes: Mapping[str, Any], resource: Mapping[str, Any]) -> Facts:
    """The facts that a span tells of its trace, metadata among them."""
    found: Facts = {}
    for fact, aliases in NAMES.items():
        for value in (source[alias] for source in (attributes, resource) for alias in aliases if alias in source):
            if _tells(value):
                found[fact] = str(value) if fact == "prompt.version" else value
                break
    return found | _metadata(attributes)


def _metadata(attributes: Mapping[str, Any]) -> Facts:
    found: Facts = {}
    for name, value in attributes.items():
        for prefix in _METADATA:
            if name.startswith(prefix) and _tells(value):
                found[f"metadata.{name.removeprefix(prefix)}"] = value
    given = parsed(attributes.get("metadata"))  # OpenInference writes all of it as one JSON text
    if isinstance(given, dict):
        found |= {f"metadata.{name}": value for name, value in given.items() if _tells(value)}
    return found


def resource_facts(resource: Mapping[str, Any]) -> Facts:
    """All of the resource, for naming rules that look at `resource.KEY`."""
    return {f"resource.{name}": value for name, value in resource.items() if _tells(value)}


def _tells(value: Any) -> bool:
    return isinstance(value, str | int | float | list) and not isinstance(value, bool) and value != ""
