"""What must hold after a case's step.

then         outcome ok | refused | race; fields {path: value} of structuredContent; code: what a refusal's text begins
             with, before ": " ("schema": the arguments were rejected); message_contains / text_has / text_lacks: pieces
             of the answer's text; wrap_after: idle | open | partial | open:TOKEN; audit_new: the events with outcome
             'done' that the step appended, in order; audit_data: fields of the last one; continuity_has; waiting:
             status.episodes_waiting; gated_session; history; any_of: the allowed outcomes of a race (in_order: position
             by position); counts: how many of each; all_equal: paths; exactly_one; rows_same: tables that did not
             change; salvage: how many rows it has; contains {path: piece(s)}.
             A refused guarded verb has left its row in the trail. After a refusal no row may have changed outside the
             tables audit, connections, salvage and notices.
"""

from __future__ import annotations

import json

from tests.cases.values import at, fill

OLD_CODES = {
    "lifecycle:input": {"invalid_input"},
    "lifecycle:not_found": {"session_not_found", "project_not_found"},
    "lifecycle:identity": {"client_key_mismatch"},
    "lifecycle:state": {"session_not_open"},
    "lifecycle:client_key": {"client_key_spent"},
    "lifecycle:terminal": {"terminal_conflict"},
    "lifecycle:capture_conflict": {"capture_conflict"},
    "lifecycle:checkpoint_conflict": {"checkpoint_conflict"},
    "focus conflict (uncoded)": {"focus_revision_conflict"},
    "validation (uncoded)": {"invalid_input"},
    "captured (uncoded)": {"knowledge_captured"},
}
GUARDED = {
    "prepare_wrap",
    "save_continuity",
    "wrap_cancel",
    "delete_episode",
    "brain_session_bind",
    "brain_session_end",
    "brain_session_relay",
    "brain_session_abandon",
    "brain_slot_open",
    "brain_slot_close",
    "brain_update_project_focus",
}


def judge(then, answer, room, before):
    kind, got, text = answer
    if then["outcome"] == "ok":
        if kind != "ok":
            return f"wanted ok, got {answer}"
        for path, wanted in then.get("fields", {}).items():
            wanted = fill(wanted, room.names)
            try:
                found = at(got, path)
            except (KeyError, IndexError, TypeError):
                return f"no field {path} in {json.dumps(got)[:300]}"
            if found != wanted:
                return f"{path}: wanted {wanted!r}, got {found!r}"
        after = room.rows() if then.get("rows_same") else {}
        for table in then.get("rows_same", []):
            if after.get(table) != before.get(table):
                return f"{table} changed"
        for path, wanted in then.get("contains", {}).items():
            for piece in [wanted] if isinstance(wanted, str) else wanted:
                if fill(piece, room.names) not in at(got, path):
                    return f"{path} lacks {piece!r}"
    else:
        if kind == "ok":
            return f"wanted a refusal ({then.get('code')}), got ok"
        code = then.get("code")
        allowed = {"schema", "invalid_input"} if code == "schema" else OLD_CODES.get(code, {code})
        if code and (got or kind) not in allowed:
            return f"wanted {sorted(allowed)}, got {answer}"
        after = room.rows()
        changed = [name for name in after if after[name] != before.get(name, [])]
        if changed:
            return f"refused, yet rows changed in {changed}"
    for piece in then.get("message_contains", []) + then.get("text_has", []):
        if str(fill(piece, room.names)) not in text:
            return f"the answer lacks {piece!r}: {text[:300]}"
    for piece in then.get("text_lacks", []):
        if str(fill(piece, room.names)) in text:
            return f"the answer holds {piece!r}"
    return None


def judge_race(then, answers):
    got = [a[1].get("outcome", "ok") if a[0] == "ok" else a[1] or a[0] for a in answers]
    plain = ["ok" if a[0] == "ok" else a[1] or a[0] for a in answers]
    if "counts" in then:
        for name, count in then["counts"].items():
            if got.count(name) != count:
                return f"wanted {count} x {name}, got {got}"
    if "any_of" in then:
        fits = plain in then["any_of"] if then.get("in_order") else sorted(plain) in [sorted(one) for one in then["any_of"]]
        if not fits:
            return f"wanted one of {then['any_of']}, got {plain}"
    for path, value in then.get("exactly_one", {}).items():
        if sum(at(a[1], path) == value for a in answers if a[0] == "ok") != 1:
            return f"not exactly one answer has {path} = {value!r}"
    for path in then.get("all_equal", []):
        if len({json.dumps(at(a[1], path)) for a in answers if a[0] == "ok"}) != 1:
            return f"{path} differs between the answers"
    return None


def judge_store(then, room, audit):
    if "wrap_after" in then:
        wanted = (
            str(fill(then["wrap_after"], room.names))
            if not then["wrap_after"].startswith("open:")
            else "open:" + str(fill(then["wrap_after"][5:], room.names))
        )
        state = room.on("A").call("status", {})
        wrap = state[1].get("wrap") or {"state": "idle"}
        found = wrap["state"]
        if wanted.startswith("open:"):
            tokens = [t for (t,) in room.read("select wrap_token from wraps where ended_at is null and project_key = 'demo'")]
            found = f"open:{tokens[0]}" if found == "open" and len(tokens) == 1 else f"{found} {tokens}"
        if found != wanted:
            return f"wrap afterwards: wanted {wanted}, found {found}"
    if "audit_new" in then:
        events = [e for (e,) in room.read("select event from audit where seq > ? and outcome = 'done' order by seq", audit)]
        events = [e for e in events if not e.startswith(("connection_", "store_", "gate_", "baton_", "project_"))]
        if events != then["audit_new"]:
            return f"audit: wanted {then['audit_new']}, found {events}"
    if "audit_data" in then:
        last = room.read(
            "select data from audit where outcome = 'done' and event = ? and seq > ? order by seq desc limit 1",
            then["audit_new"][-1],
            audit,
        )
        data = json.loads(last[0][0])
        for name, value in then["audit_data"].items():
            if data.get(name) != value:
                return f"audit data {name}: wanted {value!r}, found {data.get(name)!r}"
    unrecorded = ("schema", "store_busy", "invalid_input", "lifecycle:input", "validation (uncoded)")
    if (
        then["outcome"] == "refused"
        and room.case["when"].get("tool") in GUARDED
        and then.get("code") not in unrecorded
        and not room.read("select 1 from audit where outcome = 'refused' and seq > ?", audit)
    ):
        return "the refusal is not in the trail"
    if "salvage" in then and room.read("select count(*) from salvage")[0][0] != then["salvage"]:
        return "salvage differs"
    if "continuity_has" in then:
        text = room.read("select text from continuity where project_key = 'demo' order by revision desc limit 1")[0][0]
        for piece in then["continuity_has"]:
            if piece not in text:
                return f"the continuity lacks {piece!r}"
    if "waiting" in then:
        found = room.on("A").call("status", {})[1].get("episodes_waiting")
        if found != then["waiting"]:
            return f"episodes waiting: wanted {then['waiting']}, found {found}"
    if "gated_session" in then:
        found = room.read("select gated_session from wraps where ended_at is null")
        if found != [(then["gated_session"],)]:
            return f"gated session: {found}"
    if "history" in then:
        table, column = {"base": ("focus_history", "focus_revision"), "slot": ("slot_history", "revision")}[
            then["history"]["table"]
        ]
        more = {
            key: fill(value, room.names) for key, value in then["history"].items() if key not in ("table", "revision", "source")
        }
        where = "".join(f" and {key} is ?" for key in more)
        if not room.read(
            f"select 1 from {table} where {column} = ? and source = ?{where}",
            then["history"]["revision"],
            then["history"]["source"],
            *more.values(),
        ):
            return f"no history row {then['history']}"
    if "then_call" in then:
        follow = then["then_call"]
        return judge({"outcome": "ok", "fields": follow.get("fields", {})}, room.do(follow), room, {})
    return None
