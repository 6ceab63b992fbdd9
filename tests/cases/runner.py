"""Runs black-box cases against the agent server over stdio, as /work/shared/cases/run_cases.py does.

A case is {id, title, gate, servers, given, when, then}; `given` are set-up steps, `when` the step under test, `then` what
must hold after it. Every case gets a new store; "--store FILE --project demo" is appended to both commands.

Steps        {"tool": NAME, "args": {...}, "on": "A", "as": "S"}: a tools/call on server process A.
             {"cli": ["baton", "claim", "alice"]}: a command line. {"race": [step, ...]}: all at the same moment, each
             through a server process of its own. {"env": {...}}: from here on servers are started with it.
             {"sql": ..., "values": [...]}: damage done to the store from outside. {"lock": true}: another process holds
             the write lock from here on. {"refused": step}: that step must be refused. {"fixture": ...}: needs more
             than this runner can do (a clock, a receipt): the case is skipped here and belongs in a unit test.
References   see tests.cases.values.
servers      {"A": {"session_id": "alice"}}: started with --session-id alice.
gate         "required": `watchroom gate require` is run first.
then         see tests.cases.judging.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sqlite3
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.cases.judging import judge, judge_race, judge_store
from tests.cases.values import fill

QUIET = re.compile(r"^(audit|connections|salvage|notices|sqlite_|_)|_fts|_config$|_data$|_idx$|_docsize$|_content$")


class Skip(Exception):
    """The case needs more than this runner can do."""


class Server:
    """One server process on stdio, spoken to in JSON-RPC, one call at a time."""

    def __init__(self, argv, env):
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the server
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env={**os.environ, **env}
        )
        self.next_id = 0
        answer = self.request(
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "run_cases", "version": "1"}},
        )
        if "result" not in answer:
            raise RuntimeError(f"initialize failed: {answer}")
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params, timeout=40):
        self.next_id += 1
        timer = threading.Timer(timeout, self.process.kill)
        timer.start()
        try:
            self.send({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params})
            while True:
                line = self.process.stdout.readline()
                if not line:
                    self.errors.seek(0)
                    raise RuntimeError("the server ended: " + self.errors.read().decode(errors="replace")[-800:])
                message = json.loads(line)
                if message.get("id") == self.next_id and ("result" in message or "error" in message):
                    return message
        finally:
            timer.cancel()

    def call(self, tool, args):
        """("ok", structured, text) | ("refused", code, text) | ("schema", None, text)"""
        answer = self.request("tools/call", {"name": tool, "arguments": args})
        if "error" in answer:
            return "schema", None, answer["error"].get("message", "")
        result = answer["result"]
        text = "\n".join(part.get("text", "") for part in result.get("content", []))
        if result.get("isError"):
            code = re.match(r"\s*([a-z][a-z0-9_]*):", text)
            return ("refused", code.group(1), text) if code else ("schema", None, text)
        return "ok", result.get("structuredContent") or {}, text

    def close(self):
        try:
            self.process.stdin.close()
            self.process.wait(5)
        except Exception:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()


class Room:
    """A case's store, its servers and what its steps returned."""

    def __init__(self, case, server, cli, folder):
        self.server_command, self.cli_command = shlex.split(server), shlex.split(cli)
        self.store = str(Path(folder, "store.db"))
        self.case, self.names, self.env, self.servers, self.lock = case, {}, {}, {}, None
        if case.get("gate") == "required" and self.run_cli(["gate", "require"])[0] != "ok":
            raise RuntimeError("gate require failed")

    def tail(self):
        return ["--store", self.store, "--project", "demo"]

    def run_cli(self, argv):
        done = subprocess.run(
            self.cli_command + argv + self.tail(),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **self.env},
            timeout=60,
        )
        return (
            ("ok", {"exit_code": 0}, done.stdout)
            if done.returncode == 0
            else ("refused", f"exit {done.returncode}", done.stdout + done.stderr)
        )

    def open_server(self, label):
        session = self.case.get("servers", {}).get(label, {}).get("session_id") or (label[2:] if label.startswith("L:") else None)
        return Server(self.server_command + self.tail() + (["--session-id", session] if session else []), self.env)

    def on(self, label):
        if label not in self.servers:
            self.servers[label] = self.open_server(label)
        return self.servers[label]

    def do(self, step):
        if "fixture" in step or step.get("tool", "").startswith("fixture."):
            raise Skip(step.get("fixture") or step["tool"])
        if "env" in step:
            self.env.update({key: str(value) for key, value in step["env"].items()})
            self.close()
            return "ok", {}, ""
        if "cli" in step:
            return self.run_cli(fill(step["cli"], self.names))
        if "sql" in step:
            self.on("A").call("status", {})  # so that the store exists
            with sqlite3.connect(self.store) as db:
                db.execute("pragma ignore_check_constraints = on")
                db.execute(step["sql"], fill(step.get("values", []), self.names))
            db.close()
            return "ok", {}, ""
        if "lock" in step:
            self.on("A")  # started before the lock is taken
            self.lock = sqlite3.connect(self.store, isolation_level=None)
            self.lock.execute("begin immediate")
            return "ok", {}, ""
        return self.on(step.get("on", "A")).call(step["tool"], fill(step.get("args", {}), self.names))

    def race(self, steps):
        for step in steps:
            if "tool" not in step:
                raise Skip(step.get("fixture", "race"))
        servers = [self.open_server(step.get("on", "A")) for step in steps]
        gate = threading.Barrier(len(steps))
        calls = [(step["tool"], fill(step.get("args", {}), self.names)) for step in steps]

        def shot(server, call):
            gate.wait()
            return server.call(*call)

        try:
            with ThreadPoolExecutor(len(steps)) as pool:
                return list(pool.map(shot, servers, calls))
        finally:
            for server in servers:
                server.close()

    def close(self):
        for server in self.servers.values():
            server.close()
        self.servers = {}

    def read(self, sql, *values):
        db = sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)
        try:
            return db.execute(sql, values).fetchall()
        finally:
            db.close()

    def rows(self):
        if not Path(self.store).exists():
            return {}
        tables = [n for (n,) in self.read("select name from sqlite_master where type = 'table'") if not QUIET.search(n)]
        return {n: sorted(map(repr, self.read(f'select * from "{n}"'))) for n in tables}

    def last_audit(self):
        if not Path(self.store).exists() or not self.read("select 1 from sqlite_master where name = 'audit'"):
            return -1
        return self.read("select coalesce(max(seq), -1) from audit")[0][0]


def run_case(case, server, cli):
    with tempfile.TemporaryDirectory() as folder:
        room = Room(case, server, cli, folder)
        try:
            for step in case["given"]:
                answer = room.do(step.get("refused", step))
                if ("refused" in step) == (answer[0] == "ok"):
                    return f"set-up: {json.dumps(step)[:120]} answered {answer}"
                if step.get("as"):
                    room.names[step["as"]] = answer[1]
            when = case["when"]
            if "tool" in when:
                room.on(when.get("on", "A")).call("status", {})  # the store exists before it is looked at
            before, audit = room.rows(), room.last_audit()
            if "race" in when:
                fault = judge_race(case["then"], room.race(when["race"]))
            else:
                answer = room.do(when)
                if room.lock:
                    room.lock.execute("rollback")
                    room.lock.close()
                if when.get("as") and answer[0] == "ok":
                    room.names[when["as"]] = answer[1]
                fault = judge(case["then"], answer, room, before)
            return fault or judge_store(case["then"], room, audit)
        finally:
            room.close()
