"""Benchmarks: `pytest tests/benchmarks`. Every ratio has both of its sides measured in one run, in turns; nothing here is CI's.

The figures stand in a table at the end of the run. WATCHROOM_BENCH_CHECK=1 makes a missed ratio fail the run.
Filled stores are built once and kept in pytest's cache folder (`pytest --cache-clear` builds them anew).
"""
