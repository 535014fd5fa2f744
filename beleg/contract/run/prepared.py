"""A contract made ready to run: compiled once per version, shared by all calls."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from beleg.contract.client.errors import InvalidAnswer, VariablesInvalid
from beleg.contract.model import Contract, Provider
from beleg.contract.run import answer
from beleg.contract.run.exchange import Reply
from beleg.contract.run.form import Plan, plan
from beleg.contract.run.render import Template
from beleg.contract.run.validate import Validator


class Prepared:
    """Templates, validators and forms of one contract."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self._plans: dict[Provider, Plan] = {}

    @cached_property
    def template(self) -> Template:
        """The prompt."""
        return Template(self.contract.prompt)

    @cached_property
    def output(self) -> Validator:
        """The judge of answers."""
        return Validator(self.contract.output_schema, "the output schema")

    @cached_property
    def inputs(self) -> dict[str, Validator]:
        """The judges of variables, by name."""
        return {
            each.name: Validator(each.schema, f"the schema of {each.name}") for each in self.contract.prompt.variables
        }

    @cached_property
    def arguments(self) -> dict[str, Validator]:
        """The judges of tools' arguments, by tool."""
        return {each.name: Validator(each.input_schema, f"the schema of {each.name}") for each in self.contract.tools}

    def plan(self, provider: Provider) -> Plan:
        """The form in which this provider is asked."""
        found = self._plans.get(provider)
        if found is None:
            found = self._plans[provider] = plan(self.contract, provider)
        return found

    def render(self, variables: Mapping[str, Any]) -> tuple[str, str]:
        """System and user part of the prompt; raises VariablesInvalid and PromptInvalid."""
        self._check(variables)
        return self.template.render(variables)

    def _check(self, variables: Mapping[str, Any]) -> None:
        declared = {each.name: each for each in self.contract.prompt.variables}
        problems = [f"{str(name)[:60]!r} is no variable of the prompt" for name in variables if name not in declared]
        for name, variable in declared.items():
            if name not in variables:
                problems += [f"{name!r} is missing"] if variable.required else []
            elif (broken := self.inputs[name].broken(variables[name])) is not None:
                problems.append(f"{name!r} breaks {broken.rule!r}{broken.place and f' at {broken.place}'}")
        if problems:
            names = ", ".join(declared) or "none"
            raise VariablesInvalid([*problems, f"the prompt's variables: {names}"])

    def accept(self, reply: Reply, plan: Plan) -> Any:
        """The answer as a value that meets the contract; raises InvalidAnswer."""
        if reply.stop == "length":
            raise InvalidAnswer("truncated", hint="the model reached its most output tokens")
        try:
            value = plan.back(answer.parse(reply.text))
        except RecursionError:
            raise InvalidAnswer("json", hint="nested too deeply") from None
        broken = self.output.broken(value)
        if broken is not None:
            raise InvalidAnswer(broken.rule, broken.place, f"schema {broken.schema_place or '/'}")
        return value
