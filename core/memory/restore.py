"""restore_continuity: an older version becomes the newest revision, as a deed of its own (issue 4, 1)."""

from __future__ import annotations

from dataclasses import dataclass

from core import projects
from core.clock import stamp
from core.errors import Refusal
from core.memory import continuity, patterns, section_schemas
from core.memory.adopt import refuse_other_revision
from core.store.deed import Deed
from core.texts import reason_text


@dataclass(frozen=True, slots=True)
class Restored:
    """What `restore_continuity` answers: the new revision, whose text it has, and which one it replaced."""

    project_key: str
    revision: int
    restored_from: int
    replaced: int
    characters: int
    sha256: str


def restore_continuity(deed: Deed, *, project_key: str, revision: int, reason: str, expected_revision: int) -> Restored:
    """Make the text of an older revision the project's newest one, character for character; every version is kept.

    Levels of patterns stay the store's own. `expected_revision` is the standing one as it was shown. Order: `invalid_input` (no
    reason), `wrap_partial` and `wrap_in_progress` while a wrap is open, `continuity_not_found`,
    `continuity_revision_conflict`, `invalid_input` for the revision that stands already.
    """
    why = reason_text(reason, required=True)
    key = projects.normal_key(project_key)
    subject = f"project:{key}"
    section_schemas.refuse_while_open(deed, key, "The continuity cannot be replaced under an open wrap")
    older = continuity.version(deed.transaction, key, revision)
    if older is None:
        raise Refusal(
            "continuity_not_found",
            f"The continuity of project {key[:60]} has no revision {revision}.",
            facts={"project_key": key, "revision": revision},
            project_key=key,
            subject=subject,
        )
    refuse_other_revision(deed, key, expected_revision, subject)
    if revision == expected_revision:
        raise Refusal("invalid_input", f"Revision {revision} is the one that stands already.", project_key=key, subject=subject)
    new = expected_revision + 1
    deed.execute(
        "insert into continuity (project_key, revision, text, sha256, created_at, restored_from) values (?, ?, ?, ?, ?, ?)",
        (key, new, older.text, older.sha256, stamp(deed.clock.now()), revision),
    )
    sections = section_schemas.of_project(projects.find(deed.transaction, key))
    patterns.restored(deed, key, older.text, sections, revision)
    deed.append(
        "continuity_restored",
        project_key=key,
        subject=subject,
        data={
            "revision": new,
            "restored_from": revision,
            "replaced": expected_revision,
            "chars": len(older.text),
            "content_hash": older.sha256,
            "reason": why,
        },
    )
    return Restored(key, new, revision, expected_revision, len(older.text), older.sha256)
