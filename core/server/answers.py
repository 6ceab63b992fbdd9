"""The forms of an answer: a result, a refusal, and the notices that ride on both (room.md 2.2, 2.3 and 2.13).

Answers are plain data in the protocol's own spelling, so that nothing is built twice on the way to the wire.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.life.notices import Notice

REFUSAL_KEY = "watchroom/refusal"
NOTICES_KEY = "watchroom/notices"
COMPLETE = {"resultType": "complete"}
"""Required by the modern era; the SDK leaves it out of the answers of the others."""

Answer = dict[str, Any]


def done(text: str, structured: dict[str, Any]) -> Answer:
    """The answer of a verb that was done: words for people beside data that fits the output schema."""
    return {"content": [_block(text)], "structuredContent": structured, "isError": False, **COMPLETE}


def refused(code: str, sentence: str, facts: dict[str, Any]) -> Answer:
    """The answer of a refusal: `code: sentence`, then the facts as one line of JSON, and the same under `_meta`.

    It has no structured content: clients reject one that is not the output schema's (libraries.md E.4).
    """
    line = json.dumps(facts, ensure_ascii=False, separators=(",", ":"), default=str)
    if not _sound(line):
        # a lone surrogate cannot go over the wire; JSON's own escapes would bring it back at the client
        line = printable(line)
        facts = json.loads(line)
    sentence = printable(sentence)
    return {
        "content": [_block(f"{code}: {sentence}"), _block(line)],
        "isError": True,
        **COMPLETE,
        "_meta": {REFUSAL_KEY: {"code": code, "sentence": sentence, "facts": facts}},
    }


def with_notices(answer: Answer, notices: Sequence[Notice]) -> Answer:
    """The answer with one more text block for each notice, and all of them under `_meta` (room.md 2.13)."""
    if notices:
        answer["content"] += [_block(f"{_label(notice)}: {notice.text}") for notice in notices]
        answer.setdefault("_meta", {})[NOTICES_KEY] = [
            {
                "id": notice.id,
                "kind": notice.kind,
                "project_key": notice.project_key,
                "wrap_id": notice.wrap_id,
                "text": notice.text,
                "created_at": notice.created_at,
            }
            for notice in notices
        ]
    return answer


def printable(text: str) -> str:
    """The text with half characters replaced, for they cannot go over the wire."""
    return text if _sound(text) else text.encode("utf-8", "replace").decode()


def _sound(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _label(notice: Notice) -> str:
    # a wrap may have been cancelled by a peer as well: then the text itself says by whom
    return "Notice" if notice.kind == "cancelled" else "Notice from the operator"


def _block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
