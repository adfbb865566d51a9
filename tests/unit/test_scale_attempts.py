"""Workers that are killed while they load the checkpoints end the job; without a count Ray starts others for ever."""

import pytest

from triattn_core.errors import ConfigError, DataError
from triattn_core.scale.attempts import TRIES, count_start


def kill_while_it_loads(folder, run="first"):
    """Leave what a killed process leaves; returns its context, which would clean up when it is collected."""
    attempt = count_start(folder, run, 2)
    attempt.__enter__()
    return attempt


def test_workers_killed_while_they_load_end_the_job(tmp_path):
    killed = [kill_while_it_loads(tmp_path) for _ in range(TRIES)]
    with count_start(tmp_path, "first", 2):  # the other of two workers may still be loading
        pass
    killed.append(kill_while_it_loads(tmp_path))
    with (
        pytest.raises(DataError, match=r"^3 workers were killed while they loaded .*try fewer --workers$"),
        count_start(tmp_path, "first", 2),
    ):
        pass
    with count_start(tmp_path, "second", 2):  # a new run counts anew
        pass
    assert len(killed) == TRIES + 1


def test_a_worker_that_says_why_it_cannot_load_is_not_counted(tmp_path):
    for _ in range(TRIES + 2):
        with pytest.raises(ConfigError), count_start(tmp_path, "first", 1):
            raise ConfigError("no such checkpoint")
