"""Random windows of packed motion, made by the workers of a DataLoader and copied to a device.

    posse bake clips -o baked --format packed --arrays local_rot6d,root --fps 30
    python windows.py baked --length 32 --batch 256 --workers 4 --device cuda
"""

from __future__ import annotations

import argparse
import time

import torch
from torch.utils.data import DataLoader

import posse_animation as posse


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--rig", help="the rig of a folder with several")
    parser.add_argument("--length", type=int, default=32, help="frames of a window")
    parser.add_argument("--batch", type=int, default=256, help="windows of a batch")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--start", choices=["fork", "spawn", "forkserver"], default="spawn", help="how workers start")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--world-size", type=int, default=1)
    arguments = parser.parse_args()

    motion = posse.PackedMotion(arguments.folder, arguments.rig)
    windows = motion.windows(arguments.length, rank=arguments.rank, world_size=arguments.world_size)
    print(motion)
    for epoch in range(arguments.epochs):
        batches = windows.batches(arguments.batch, seed=0, epoch=epoch)
        loader = DataLoader(
            batches,
            batch_size=None,
            num_workers=arguments.workers,
            multiprocessing_context=arguments.start if arguments.workers else None,
            pin_memory=arguments.device.startswith("cuda"),
        )
        begin, count = time.perf_counter(), 0
        shapes: dict[str, tuple[int, ...]] = {}
        for batch in loader:
            on_device = {name: tensor.to(arguments.device, non_blocking=True) for name, tensor in batch.items()}
            # Here trains the model.
            shapes = {name: tuple(tensor.shape) for name, tensor in on_device.items()}
            count += arguments.batch
        seconds = time.perf_counter() - begin
        print(f"epoch {epoch}: {count} windows, {count / seconds:.0f} per second, {shapes} on {arguments.device}")


if __name__ == "__main__":
    main()
