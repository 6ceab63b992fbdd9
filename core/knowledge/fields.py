"""The fields of each kind of knowledge: their limits, and how they are put together into the text that is searched."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from core.errors import Refusal
from core.knowledge.models import Confidence, Kind, SourceType
from core.sessions.limits import bounded, unique_id
from core.texts import DEPTH_LIMIT, depth, storable

TITLE_LIMIT = 200
TEXT_LIMIT = 20_000
SHORT_LIMIT = 200
ITEMS_LIMIT = 100
TAGS_LIMIT = 20
TAG_LIMIT = 50
STEP_FIELDS = ("order", "title", "command", "verification")

Shape = Literal["text", "optional", "short", "optional short", "texts", "steps", "alternatives", "source_type", "confidence"]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a kind: its shape, and the label under which it stands in the text."""

    name: str
    shape: Shape
    label: str


FIELDS: Mapping[Kind, tuple[Field, ...]] = {
    "decision": (
        Field("context", "text", "Context"),
        Field("decision_made", "text", "Decision"),
        Field("reasoning", "text", "Reasoning"),
        Field("alternatives", "texts", "Alternatives"),
        Field("consequences", "optional", "Consequences"),
    ),
    "learning": (
        Field("insight", "text", "Insight"),
        Field("source", "optional short", "Source"),
        Field("source_type", "source_type", "Source type"),
        Field("confidence", "confidence", "Confidence"),
    ),
    "snippet": (
        Field("intention", "text", "Intention"),
        Field("code", "text", "Code"),
        Field("language", "short", "Language"),
        Field("dependencies", "texts", "Dependencies"),
        Field("usage_example", "optional", "Usage"),
        Field("gotchas", "optional", "Gotchas"),
    ),
    "runbook": (
        Field("description", "text", "Description"),
        Field("trigger", "text", "Trigger"),
        Field("steps", "steps", "Steps"),
        Field("prerequisites", "texts", "Prerequisites"),
        Field("rollback_steps", "steps", "Rollback"),
        Field("estimated_duration", "optional short", "Duration"),
    ),
    "adr": (
        Field("context", "text", "Context"),
        Field("decision", "text", "Decision"),
        Field("consequences", "text", "Consequences"),
        Field("alternatives_considered", "alternatives", "Alternatives considered"),
    ),
}
"""What each kind has beside its title and tags, in the order of its text."""


def checked(kind: Kind, values: Mapping[str, Any]) -> dict[str, Any]:
    """The kind's fields as they are stored. Refuses `invalid_input` for a text that is blank, too long or cannot be stored."""
    return {field.name: _checked(field, values.get(field.name)) for field in FIELDS[kind]}


def title_of(title: str) -> str:
    """A trimmed title of 1 to 200 characters. Refuses `invalid_input`."""
    return bounded(title, "The title", TITLE_LIMIT)


def tags_of(tags: Sequence[str] | None) -> tuple[str, ...]:
    """Tags as they are stored: trimmed, each once. Refuses `invalid_input` for more than 20, or one over 50 characters."""
    found = tuple(dict.fromkeys(bounded(tag, "A tag", TAG_LIMIT) for tag in tags or ()))
    if len(found) > TAGS_LIMIT:
        raise Refusal("invalid_input", f"{len(found)} tags were sent; at most {TAGS_LIMIT} are kept.")
    return found


def relations_of(related_to: Sequence[Mapping[str, str]] | None) -> list[dict[str, str]]:
    """What an entry says it is related to, as it is stored: ids and kinds of relation. Refuses `invalid_input`."""
    given = list(related_to or ())
    if len(given) > ITEMS_LIMIT:
        raise Refusal("invalid_input", f"related_to has {len(given)} items; at most {ITEMS_LIMIT} are kept.")
    return [{"id": unique_id(one["id"], "An id in related_to"), "type": one["type"]} for one in given]


def body_of(kind: Kind, details: Mapping[str, Any]) -> str:
    """The entry's text: its fields under their labels, empty ones left out."""
    parts = []
    for field in FIELDS[kind]:
        text = _as_text(details.get(field.name))
        if text:
            parts.append(f"{field.label}: {text}")
    return "\n\n".join(parts)


def _checked(field: Field, value: Any) -> Any:
    name = field.name
    if field.shape == "text":
        return bounded(_text(value, name), name, TEXT_LIMIT)
    if field.shape == "short":
        return bounded(_text(value, name), name, SHORT_LIMIT)
    if field.shape in ("optional", "optional short"):
        most = TEXT_LIMIT if field.shape == "optional" else SHORT_LIMIT
        return None if value is None else bounded(_text(value, name), name, most, least=0) or None
    if field.shape == "source_type":
        return _one_of(value or "experience", name, get_args(SourceType))
    if field.shape == "confidence":
        return _one_of(value or "medium", name, get_args(Confidence))
    items = list(value or ())
    if len(items) > ITEMS_LIMIT:
        raise Refusal("invalid_input", f"{name} has {len(items)} items; at most {ITEMS_LIMIT} are kept.")
    if field.shape == "texts":
        return [bounded(_text(item, name), f"An item of {name}", TEXT_LIMIT) for item in items]
    if field.shape == "steps":
        return [_step(item, name, number) for number, item in enumerate(items, start=1)]
    return [_object(item, name) for item in items]


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise Refusal("invalid_input", f"{name} is a text.")
    return value


def _one_of(value: Any, name: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise Refusal("invalid_input", f"{name} is one of {', '.join(known)}.")
    return str(value)


def _step(item: Any, name: str, number: int) -> dict[str, Any]:
    if not isinstance(item, Mapping) or set(item) - set(STEP_FIELDS):
        raise Refusal(
            "invalid_input", f"A step of {name} has title and may have {', '.join(f for f in STEP_FIELDS if f != 'title')}."
        )
    order = item.get("order") or number
    if isinstance(order, bool) or not isinstance(order, int):
        raise Refusal("invalid_input", f"A step's order in {name} is a whole number.")
    kept: dict[str, Any] = {
        "order": order,
        "title": bounded(_text(item.get("title"), "A step's title"), "A step's title", TEXT_LIMIT),
    }
    for part in ("command", "verification"):
        text = item.get(part)
        kept[part] = None if text is None else bounded(_text(text, part), f"A step's {part}", TEXT_LIMIT, least=0) or None
    return kept


def _object(item: Any, name: str) -> dict[str, Any]:
    if not isinstance(item, Mapping) or depth(dict(item)) > DEPTH_LIMIT:
        raise Refusal("invalid_input", f"An item of {name} is an object, not too deep.")
    text = json.dumps(dict(item), ensure_ascii=False)
    if len(text) > TEXT_LIMIT:
        raise Refusal("invalid_input", f"An item of {name} is too long.")
    storable(text, f"An item of {name}")
    return dict(item)


def _as_text(value: Any) -> str:
    if value in (None, "", [], {}):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(f"- {_as_text(item)}" for item in value)
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_as_text(part)}" for name, part in value.items() if part not in (None, "", [], {}))
    return str(value)
