"""Measurements that a person runs: `python -m tests.bench.attention`, `python -m tests.bench.throughput`."""
