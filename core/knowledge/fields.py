"""The fields of each kind of knowledge: their limits, and how they are put together into the text that is searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from core.errors import Refusal
from core.knowledge.models import Confidence, Kind, Relation, SourceType
from core.sessions.limits import bounded, unique_id, whole
from core.texts import storable

TITLE_LIMIT = 200
TEXT_LIMIT = 50_000
SHORT_LIMIT = 2_000
NAME_LIMIT = 50
"""Characters of a language's name, and of a duration."""
ITEMS_LIMIT = 100
TAGS_LIMIT = 100
TAG_LIMIT = 100
RELATIONS_LIMIT = 50
ENTRY_LIMIT = 200_000
"""Characters of an entry's text as a whole."""

Shape = Literal["text", "short", "name", "code", "texts", "steps", "alternatives", "source_type", "confidence"]
SCALARS: Mapping[str, int] = {"text": TEXT_LIMIT, "short": SHORT_LIMIT, "name": NAME_LIMIT, "code": TEXT_LIMIT}
CHOICES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "source_type": (get_args(SourceType), "experience"),
    "confidence": (get_args(Confidence), "medium"),
}
"""Each choice's words, and the one that stands where none was sent."""
STEP_FIELDS = ("order", "title", "command", "description", "expected_output", "verification", "timeout_seconds")
ALTERNATIVE_FIELDS = ("title", "description", "reason_rejected")


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a kind: its shape, the label under which it stands in the text, and whether an entry must have it."""

    name: str
    shape: Shape
    label: str
    required: bool = False


FIELDS: Mapping[Kind, tuple[Field, ...]] = {
    "decision": (
        Field("context", "text", "Context", required=True),
        Field("decision_made", "text", "Decision", required=True),
        Field("reasoning", "text", "Reasoning", required=True),
        Field("alternatives", "texts", "Alternatives"),
        Field("consequences", "text", "Consequences"),
    ),
    "learning": (
        Field("insight", "text", "Insight", required=True),
        Field("source", "short", "Source"),
        Field("source_type", "source_type", "Source type"),
        Field("confidence", "confidence", "Confidence"),
    ),
    "snippet": (
        Field("intention", "text", "Intention", required=True),
        Field("code", "code", "Code", required=True),
        Field("language", "name", "Language", required=True),
        Field("dependencies", "texts", "Dependencies"),
        Field("usage_example", "code", "Usage"),
        Field("gotchas", "text", "Gotchas"),
    ),
    "runbook": (
        Field("description", "text", "Description", required=True),
        Field("trigger", "short", "Trigger", required=True),
        Field("steps", "steps", "Steps", required=True),
        Field("prerequisites", "texts", "Prerequisites"),
        Field("rollback_steps", "steps", "Rollback"),
        Field("estimated_duration", "name", "Duration"),
    ),
    "adr": (
        Field("context", "text", "Context", required=True),
        Field("decision", "text", "Decision", required=True),
        Field("consequences", "text", "Consequences", required=True),
        Field("alternatives_considered", "alternatives", "Alternatives considered"),
    ),
}
"""What each kind has beside its title and tags, in the order of its text."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry that was checked and may be stored."""

    kind: Kind
    title: str
    tags: tuple[str, ...]
    details: dict[str, Any]
    body: str


def draft(
    kind: Kind,
    title: Any,
    values: Mapping[str, Any],
    tags: Any,
    related_to: Sequence[Mapping[str, Any]] | None = None,
) -> Draft:
    """An entry of what an agent sent. Refuses `invalid_input` for a text that is blank, too long or cannot be stored."""
    name, labels = title_of(title), tags_of(tags)
    details = {field.name: checked(field, values.get(field.name)) for field in FIELDS[kind]}
    relations = relations_of(related_to)
    if relations:
        details["related_to"] = relations
    return Draft(kind, name, labels, details, body_of(kind, details))


def title_of(title: Any) -> str:
    """A trimmed title of 1 to 200 characters. Refuses `invalid_input`."""
    return bounded(_text(title, "The title"), "The title", TITLE_LIMIT)


def tags_of(tags: Any) -> tuple[str, ...]:
    """Tags as they are stored: trimmed, each once. Refuses `invalid_input` for more than 100, or one over 100 characters."""
    found = tuple(dict.fromkeys(bounded(_text(tag, "A tag"), "A tag", TAG_LIMIT) for tag in _list(tags, "tags")))
    if len(found) > TAGS_LIMIT:
        raise Refusal("invalid_input", f"{len(found)} tags were sent; at most {TAGS_LIMIT} are kept.")
    return found


def relations_of(related_to: Sequence[Mapping[str, Any]] | None) -> list[dict[str, str]]:
    """What an entry says it is related to, each once: ids, which may be unknown here, and kinds of relation. Refuses `invalid_input`."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for one in _list(related_to, "related_to"):
        given = _object(one, ("id", "type"), "An item of related_to")
        wanted = unique_id(_text(given.get("id"), "An id in related_to"), "An id in related_to")
        kind = _one_of(given.get("type"), "A type in related_to", get_args(Relation))
        found[wanted, kind] = {"id": wanted, "type": kind}
    if len(found) > RELATIONS_LIMIT:
        raise Refusal("invalid_input", f"related_to has {len(found)} items; at most {RELATIONS_LIMIT} are kept.")
    return list(found.values())


def checked(field: Field, value: Any) -> Any:
    """One field's value as it is stored. Refuses `invalid_input`."""
    name = field.name
    if field.shape in CHOICES:
        known, usual = CHOICES[field.shape]
        return usual if value is None else _one_of(value, name, known)
    if field.shape in SCALARS:
        return _scalar(field, value)
    items = _list(value, name)
    if field.required and not items:
        raise Refusal("invalid_input", f"{name} is empty: at least one is needed.")
    if field.shape == "texts":
        return [bounded(_text(item, f"An item of {name}"), f"An item of {name}", SHORT_LIMIT) for item in items]
    if field.shape == "steps":
        return [_step(item, name, number) for number, item in enumerate(items, start=1)]
    return [_alternative(item, name) for item in items]


def stored_relations(details: Mapping[str, Any]) -> list[dict[str, str]]:
    """The relations of a stored entry; what another program spoilt is left out."""
    stored, known = details.get("related_to"), get_args(Relation)
    return [
        {"id": one["id"], "type": one["type"]}
        for one in (stored if isinstance(stored, list) else ())
        if isinstance(one, dict) and isinstance(one.get("id"), str) and one.get("type") in known
    ]


def with_relations(details: Mapping[str, Any], more: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """A stored entry's relations and those, each once. Refuses `invalid_input` where they become too many."""
    found = {(one["id"], one["type"]): one for one in [*stored_relations(details), *more]}
    return _few_relations(list(found.values()))


def missing(kind: Kind, details: Mapping[str, Any]) -> tuple[str, ...]:
    """The required fields that an entry does not have: another program stored it."""
    return tuple(field.name for field in FIELDS[kind] if field.required and not details.get(field.name))


def body_of(kind: Kind, details: Mapping[str, Any]) -> str:
    """The entry's text: its fields under their labels, empty ones left out. Refuses `invalid_input` for one that is too long."""
    parts = []
    for field in FIELDS[kind]:
        text = _as_text(details.get(field.name))
        if text:
            # what is laid out in lines begins on a line of its own
            parts.append(f"{field.label}:{chr(10) if field.shape in ('code', 'texts', 'steps', 'alternatives') else ' '}{text}")
    body = "\n\n".join(parts)
    if len(body) > ENTRY_LIMIT:
        raise Refusal("invalid_input", f"The {kind} has {len(body):,} characters in all; at most {ENTRY_LIMIT:,} are taken.")
    return body


def _few_relations(relations: list[dict[str, str]]) -> list[dict[str, str]]:
    if len(relations) > RELATIONS_LIMIT:
        raise Refusal("invalid_input", f"That makes {len(relations)} relations; at most {RELATIONS_LIMIT} are kept.")
    return relations


def _scalar(field: Field, value: Any) -> str | None:
    if value is None and not field.required:
        return None
    text, most = _text(value, field.name), SCALARS[field.shape]
    trimmed = bounded(text, field.name, most, least=1 if field.required else 0)
    # the first line's indentation is part of the code
    return (text if field.shape == "code" and trimmed else trimmed) or None


def _step(item: Any, name: str, number: int) -> dict[str, Any]:
    given = _object(item, STEP_FIELDS, f"A step of {name}")
    seconds = given.get("timeout_seconds")
    return {
        "order": whole(given.get("order", number), f"A step's order in {name}"),
        "title": bounded(_text(given.get("title"), "A step's title"), "A step's title", SHORT_LIMIT),
        **{part: _optional(given.get(part), f"A step's {part}") for part in STEP_FIELDS[2:6]},
        "timeout_seconds": None if seconds is None else whole(seconds, "A step's timeout_seconds"),
    }


def _alternative(item: Any, name: str) -> dict[str, Any]:
    given = _object(item, ALTERNATIVE_FIELDS, f"An item of {name}")
    return {
        "title": bounded(_text(given.get("title"), "An alternative's title"), "An alternative's title", SHORT_LIMIT),
        "description": bounded(_text(given.get("description"), "Its description"), "Its description", TEXT_LIMIT),
        "reason_rejected": _optional(given.get("reason_rejected"), "Its reason_rejected"),
    }


def _optional(value: Any, what: str) -> str | None:
    return None if value is None else bounded(_text(value, what), what, TEXT_LIMIT, least=0) or None


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise Refusal("invalid_input", f"{what} must be a text.")
    return storable(value, what)


def _list(value: Any, what: str) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Refusal("invalid_input", f"{what} must be a list.")
    if len(value) > ITEMS_LIMIT:
        raise Refusal("invalid_input", f"{what} has {len(value)} items; at most {ITEMS_LIMIT} are taken.")
    return list(value)


def _object(value: Any, known: tuple[str, ...], what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or set(value) - set(known):
        raise Refusal("invalid_input", f"{what} must be an object with {', '.join(known)} and nothing else.")
    return value


def _one_of(value: Any, what: str, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known:
        raise Refusal("invalid_input", f"{what} must be one of {', '.join(known)}.")
    return value


def _as_text(value: Any) -> str:
    if value in (None, "", [], {}):
        return ""
    if isinstance(value, list):
        return "\n".join(f"- {_as_text(item)}" for item in value)
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_as_text(part)}" for name, part in value.items() if part not in (None, "", [], {}))
    return str(value)
