"""Properties computed once an object: no object waits for another."""

from __future__ import annotations

from threading import Barrier, Thread

from triattn_core.cached import cached_property


class SlowAnswer:
    """Answers once another is asked meanwhile."""

    def __init__(self, meet: Barrier):
        self.meet, self.times = meet, 0

    @cached_property
    def answer(self) -> int:
        """Forty-two."""
        self.times += 1
        self.meet.wait(5)
        return 42


def test_two_objects_are_computed_at_once():
    meet = Barrier(2)
    asked = [SlowAnswer(meet), SlowAnswer(meet)]
    threads = [Thread(target=lambda one=one: one.answer) for one in asked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.__dict__.get("answer") for one in asked] == [42, 42]


def test_it_is_computed_once_and_can_be_set_and_forgotten():
    instance = SlowAnswer(Barrier(1))
    assert (instance.answer, instance.answer, instance.times) == (42, 42, 1)
    del instance.answer
    assert (instance.answer, instance.times) == (42, 2)
    assert SlowAnswer.answer.__doc__ == "Forty-two."
