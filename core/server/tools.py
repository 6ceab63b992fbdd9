"""What a tool of the server is: its arguments, its result, and what a client is told of both (room.md 2.2 to 2.4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from core.errors import Refusal
from core.server.answers import printable
from core.verbs import VERBS, Verb

BAD_ARGUMENTS_NAMED = 20
NAME_SHOWN = 60
VALUE_SHOWN = 40
UUID_PATTERN = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"

ProjectKey = Annotated[
    str | None, Field(description="The project whose memory is meant. Left out or null: the project this server was started for.")
]
"""Every tool's last argument (room.md 2.1)."""


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


WholeNumber = Annotated[int, BeforeValidator(_whole)]
"""A whole number, also one written as 5.0 (wraps.md b, recall)."""


StrictNumber = Annotated[int, Field(strict=True)]
"""A whole number that true, false and texts are not (sessions.md b.8)."""

UniqueId = Annotated[str, Field(pattern=UUID_PATTERN, description="A UUID.")]
"""An id as sessions, slots, tickets and knowledge have it."""


class Arguments(BaseModel):
    """A tool's arguments: nothing is coerced, and nothing unknown is let through (room.md 2.4)."""

    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)

    def as_verb(self, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments that were given, as the verb takes them; for a tool whose arguments are objects."""
        return given


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: a verb as agents see it. `call` runs it, `text` says its result in words, `left_out` is in the words only.

    `ignored` are arguments that are accepted and have no effect. `default_project`: a project_key that is left out is the
    server's own. `read_only` is the hint that clients get. Schemas are built once, at import.
    """

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    result: TypeAdapter[Any]
    text: Callable[[Any], str]
    verb: Verb
    ignored: frozenset[str]
    left_out: frozenset[str]
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    default_project: bool
    read_only: bool

    def parse(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the verb takes them: only those that were given, for the verb has the defaults.

        Refuses `invalid_input` naming each bad argument and why; an unknown one with the names that the tool has.
        """
        try:
            checked = self.arguments.model_validate(given)
        except ValidationError as error:
            raise self._refusal(given, error) from None
        given_ones = {name: getattr(checked, name) for name in checked.model_fields_set if name not in self.ignored}
        return checked.as_verb(given_ones)

    def structured(self, result: Any) -> dict[str, Any]:
        """The result as JSON data that fits the output schema; null is sent, never left out (room.md 2.3)."""
        data: dict[str, Any] = self.result.dump_python(result, mode="json")
        for name in self.left_out:
            data.pop(name)
        return data

    def _refusal(self, given: Mapping[str, Any], error: ValidationError) -> Refusal:
        faults: dict[str, str] = {}
        unknown = False
        for one in error.errors(include_url=False, include_context=True, include_input=False):
            path, kind = one["loc"], one["type"]
            unknown = unknown or kind == "extra_forbidden"
            name = str(path[0]) if path else "arguments"
            shown = printable(name[:NAME_SHOWN]) + "".join(f"[{step}]" for step in path[1:])
            faults.setdefault(shown, _why(kind, _at(given, path), one.get("ctx", {})))
        names = list(self.arguments.model_fields)
        listed = [f"{name!r} {why}" for name, why in list(faults.items())[:BAD_ARGUMENTS_NAMED]]
        if len(faults) > BAD_ARGUMENTS_NAMED:
            listed.append(f"and {len(faults) - BAD_ARGUMENTS_NAMED} more")
        has = f" The arguments of {self.name} are {', '.join(names)}." if unknown else ""
        return Refusal(
            "invalid_input",
            f"{self.name} did nothing, because of its arguments: {'; '.join(listed)}.{has}",
            facts={"tool": self.name, "arguments": faults, "known_arguments": names},
        )


def tool(
    name: str,
    *,
    title: str,
    description: str,
    arguments: type[Arguments],
    result: type[Any],
    text: Callable[[Any], str],
    ignored: frozenset[str] = frozenset(),
    left_out: frozenset[str] = frozenset(),
    every_project: bool = False,
    read_only: bool | None = None,
) -> Tool:
    """A tool for the verb of that name, with its schemas: the output's comes from core's own dataclass.

    `every_project`: without a project_key it is about all of them. `read_only` is for a verb that changes nothing a caller
    would call a change.
    """
    adapter: TypeAdapter[Any] = TypeAdapter(result)
    output = _flat(adapter.json_schema(mode="serialization"))
    for hidden in left_out:
        del output["properties"][hidden]
    return Tool(
        name,
        title,
        description,
        arguments,
        adapter,
        text,
        VERBS[name],
        ignored,
        left_out,
        input_schema=_flat(arguments.model_json_schema(), bare=True),
        output_schema=_complete(output),
        default_project="project_key" in arguments.model_fields and not every_project,
        read_only=VERBS[name].reads if read_only is None else read_only,
    )


# schemas that weak clients can read


def _flat(schema: dict[str, Any], *, bare: bool = False) -> dict[str, Any]:
    """A schema without `$ref`, and with `bare` without titles and the texts of Python classes."""
    definitions = schema.pop("$defs", {})

    def walk(node: Any, *, names: bool = False) -> Any:
        if isinstance(node, list):
            return [walk(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return walk(definitions[node["$ref"].rpartition("/")[2]])
        # below `properties` the keys are names of arguments, one of which may be `title`
        kept = {key: value for key, value in node.items() if names or key != "title"}
        return {key: walk(value, names=key == "properties" and not names) for key, value in kept.items()}

    flat: dict[str, Any] = walk(schema)
    if bare:
        flat.pop("description", None)
    return flat


def _complete(node: Any) -> Any:
    """The schema with every property required: a result never leaves one out."""
    if isinstance(node, list):
        return [_complete(item) for item in node]
    if not isinstance(node, dict):
        return node
    done = {key: _complete(value) for key, value in node.items()}
    if node.get("type") == "object" and "properties" in node:
        done["required"] = list(node["properties"])
    return done


# why an argument is refused, in words


def _why(kind: str, value: Any, context: Mapping[str, Any]) -> str:
    fixed = {
        "missing": "is required",
        "extra_forbidden": "is no argument of this tool",
        "string_unicode": "holds half a character (a lone surrogate); send valid Unicode",
        "string_too_short": "must not be empty",
    }
    wanted = {
        "int_type": "a whole number",
        "int_from_float": "a whole number",
        "int_parsing_size": "a smaller number",
        "bool_type": "true or false",
        "string_type": "a text",
        "list_type": "a list",
        "literal_error": f"one of {context.get('expected', 'the words in the schema')}",
        "greater_than_equal": f"at least {context.get('ge')}",
        "less_than_equal": f"at most {context.get('le')}",
        "string_too_long": f"at most {context.get('max_length')} characters long",
    }
    if kind in fixed:
        return fixed[kind]
    return f"must be {wanted.get(kind, 'as the schema of this tool says')}, not {_words(value)}"


def _words(value: Any) -> str:
    if isinstance(value, str):
        shown = json.dumps(value[:VALUE_SHOWN])
        return f"the text {shown}" if len(value) <= VALUE_SHOWN else f"a text of {len(value)} characters"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    return str(json.dumps(value))[:VALUE_SHOWN]


def _at(given: Mapping[str, Any], path: tuple[int | str, ...]) -> Any:
    value: Any = given
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value
