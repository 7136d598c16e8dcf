"""Crowd files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import posse_animation as posse

Command = Callable[..., str]
TIMES = [0.0, 0.15, 0.4, 1.3]


@pytest.fixture
def crowd(worm: Path) -> Path:
    """A crowd file of four instances of `worm`: two that play, and two with a parameter and a transition."""
    instances = [
        {"count": 2, "spread": {"start": [0.0, 0.3], "seed": 3}, "layers": [{"clip": "bend", "wrap": "loop"}]},
        {
            "count": 2,
            "spread": {"rate": [0.5, 2.0], "seed": 1},
            "parameters": {"mix": [[0.0, 0.0], [1.0, 1.0]]},
            "layers": [
                {"clip": "bend", "wrap": "loop"},
                {"clip": "grow", "wrap": "loop", "weight": {"parameter": "mix", "knots": [[0, 0], [1, 2]]}},
            ],
            "transition": {"start": 0.2, "half_life": 0.1, "from": [{"clip": "grow", "wrap": "loop"}]},
        },
    ]
    path = worm.parent / "crowd.json"
    path.write_text(json.dumps({"files": [worm.name], "instances": instances}))
    return path


def test_instances_are_those_of_eval(command: Command, crowd: Path, tmp_path: Path) -> None:
    times = ",".join(map(str, TIMES))
    command("eval", "--crowd", crowd, "--times", times, "--engine", "reference", "--format", "npz", "-o", tmp_path / "poses.npz")
    expected = np.load(tmp_path / "poses.npz")
    found = posse.Crowd(crowd)
    assert (len(found), repr(found), found.file(3)) == (4, "Crowd(4 instances, 1 files)", "worm.gltf")
    for instance in range(4):
        poses = found.sample(instance, TIMES)
        pairs = [
            (poses.local_pos, expected["translation"][:, instance]),
            (poses.local_scale, expected["scale"][:, instance]),
            (poses.skin, expected["skin_0"][:, instance]),
            (poses.weights, expected["weights"][:, instance]),
            (poses.pos, expected["model"][:, instance, :, :3, 3]),
        ]
        for array, other in pairs:
            np.testing.assert_allclose(array, other, rtol=1e-5, atol=1e-5)
        dots = (poses.local_quat * expected["rotation"][:, instance]).sum(-1)
        np.testing.assert_allclose(np.abs(dots), 1, atol=1e-5)


def test_times_have_any_shape(crowd: Path) -> None:
    found = posse.Crowd(crowd)
    windows = found.sample(2, np.reshape(TIMES, (2, 2)), arrays=["pos", "linvel"], joints=["tip", "base"], fps=50)
    assert windows.pos.shape == (2, 2, 2, 3) and windows.joint_names == ("tip", "base")
    ends = [found.sample(2, np.add(TIMES, step), arrays=["pos"], joints=["tip", "base"]).pos for step in (-0.02, 0.02)]
    np.testing.assert_allclose(windows.linvel.reshape(4, 2, 3), (ends[1] - ends[0]) / 0.04, rtol=0, atol=1e-3)
    again = found.sample(2, np.reshape(TIMES, (2, 2)), arrays=["pos", "linvel"], joints=["tip", "base"], fps=50, out=windows)
    assert again.pos is windows.pos
    # Many rows are filled in pieces.
    long = np.arange(200) / 60
    rows = found.sample(3, long, arrays=["pos"]).pos
    assert rows[150].tobytes() == found.sample(3, long[150], arrays=["pos"]).pos.tobytes()


def test_what_does_not_fit_is_refused(crowd: Path, slide: Path, tmp_path: Path) -> None:
    found = posse.Crowd(crowd)
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: found.sample(4, TIMES), "instance 4: the crowd has 4 instances"),
        (lambda: found.file(-1), "instance -1: the crowd has 4 instances"),
        (lambda: found.sample(0, TIMES, arrays=["contact"]), "contact is an array of clips"),
        (lambda: found.sample(0, [1e13]), "times are from"),
        (lambda: found.sample(0, TIMES, fps=0), "fps=0; expected"),
        (lambda: posse.Crowd(slide), "slide.bvh: "),
    ]
    for call, message in cases:
        with pytest.raises(posse.Error, match=message):
            call()
    with pytest.raises(FileNotFoundError):
        posse.Crowd(tmp_path / "missing.json")
    # A field of another name is refused, with its place.
    crowd.write_text(crowd.read_text().replace('"wrap"', '"warp"'))
    with pytest.raises(posse.Error, match=r"crowd.json: instances\[0\].layers\[0\]"):
        posse.Crowd(crowd)
