"""Arrays that are filled again."""

from __future__ import annotations

import numpy as np
import pytest

import posse_animation as posse

TIMES = [0.0, 0.1, 0.2]


def test_poses_are_filled_again(library: posse.Library) -> None:
    first = library.sample(0, TIMES, arrays=["pos", "quat"])
    again = library.sample(1, TIMES, arrays=["pos", "quat"], out=first)
    assert again.pos is first.pos and again.quat is first.quat
    assert again.pos.tobytes() == library.sample(1, TIMES).pos.tobytes()


def test_arrays_are_filled_in_place(library: posse.Library) -> None:
    buffer = np.full((5, 24, 3), 7, dtype=np.float32)
    # A part of a larger array that is itself contiguous.
    poses = library.states([0, 1, 2], TIMES, arrays=["pos"], out={"pos": buffer[1:4]})
    assert np.shares_memory(poses.pos, buffer)
    assert buffer[1:4].tobytes() == library.states([0, 1, 2], TIMES).pos.tobytes()
    assert (buffer[[0, 4]] == 7).all()
    assert library.bake(0, out=library.bake(0)).pos.tobytes() == library.bake(0).pos.tobytes()


def test_arrays_that_do_not_fit_are_refused(library: posse.Library) -> None:
    good = np.zeros((3, 24, 3), dtype=np.float32)
    read_only = good.copy()
    read_only.flags.writeable = False
    cases = [
        ({}, ValueError, r"out has no array 'pos'; expected one of shape \(3, 24, 3\)"),
        ({"pos": good, "poss": good}, ValueError, r"out has \['poss'\], which the call does not fill"),
        ({"pos": good.astype(np.float64)}, TypeError, "has the dtype float64; expected float32"),
        ({"pos": good[:2]}, ValueError, r"has the shape \(2, 24, 3\); expected \(3, 24, 3\)"),
        ({"pos": np.asfortranarray(good)}, ValueError, "is not contiguous in C order"),
        ({"pos": np.zeros((6, 24, 3), np.float32)[::2]}, ValueError, "is not contiguous in C order"),
        ({"pos": read_only}, ValueError, "is read-only"),
        ({"pos": good.tolist()}, TypeError, "is list; expected a NumPy array"),
        ([good], TypeError, "out is list; expected Poses, or a mapping"),
    ]
    for out, error, message in cases:
        with pytest.raises(error, match=message):
            library.sample(0, TIMES, arrays=["pos"], out=out)  # type: ignore[arg-type]


def test_arrays_that_overlap_are_refused(library: posse.Library) -> None:
    buffer = np.zeros((2, 3, 24, 3), dtype=np.float32)
    with pytest.raises(ValueError, match="already borrowed"):
        library.sample(0, TIMES, arrays=["pos", "linvel"], out={"pos": buffer[0], "linvel": buffer[0]})
    library.sample(0, TIMES, arrays=["pos", "linvel"], out={"pos": buffer[0], "linvel": buffer[1]})
    assert (buffer[1] != 0).any()
