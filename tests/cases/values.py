"""The values of a case: references to what earlier steps returned, and built ones.

"$S.session.id" is a field of the result that step "as": "S" returned, also inside a text; $TODAY is the date;
{"$repeat": ["x", 100]}, {"$concat": [...]}, {"$new_uuid": true} and {"$text": {"Patterns": "- line"}} (a continuity text that
has every section) build values.
"""

from __future__ import annotations

import datetime
import re
import uuid

SECTIONS = ["State", "Durable Facts", "Patterns", "Decisions", "Context"]


def at(value, path):
    for part in re.findall(r"[^.\[\]]+|\[-?\d+\]", path):
        value = value[int(part[1:-1])] if part.startswith("[") else value[part]
    return value


def fill(value, names):
    if isinstance(value, str):
        whole = re.fullmatch(r"\$(\w+)(?:\.([\w.\[\]]+))?", value)
        if whole and whole.group(1) in names:
            return at(names[whole.group(1)], whole.group(2)) if whole.group(2) else names[whole.group(1)]
        value = value.replace("$TODAY", datetime.date.today().isoformat())
        return re.sub(
            r"\$(\w+)\.([\w.]+\w)", lambda m: str(at(names[m.group(1)], m.group(2))) if m.group(1) in names else m.group(0), value
        )
    if isinstance(value, list):
        return [fill(item, names) for item in value]
    if isinstance(value, dict):
        if "$repeat" in value:
            return value["$repeat"][0] * value["$repeat"][1]
        if "$concat" in value:
            return "".join(fill(item, names) for item in value["$concat"])
        if "$new_uuid" in value:
            return str(uuid.uuid4())
        if "$text" in value:
            body, size = dict(value["$text"]), value["$text"].get("$size")
            text = "".join(
                f"## {s}\n{fill(body.get(s, 'nothing to note'), names)}\n\n"
                for s in SECTIONS
                if s in body or s != "Durable Facts"
            )
            return text + "x" * (size - len(text)) if size else text
        return {key: fill(item, names) for key, item in value.items()}
    return value
