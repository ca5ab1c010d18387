"""A small training program, as people write them; it knows nothing of Lumbre.

Trains a classifier with PyTorch where it can be imported, else with numpy alone, and prints a line
now and then. Ends by itself after --seconds, or at SIGTERM.
"""

import argparse
import importlib
import importlib.util
import signal
import sys


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--framework", choices=["torch", "numpy"])
    return parser.parse_args()


def choose_framework(wanted):
    if wanted:
        return wanted
    try:
        importlib.import_module("torch")
    except Exception:  # A broken torch installation raises more than ImportError.
        return "numpy"
    return "torch"


def end_quietly(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # A second one must not interrupt the goodbye.
    sys.exit(0)


def main():
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, end_quietly)
    framework = choose_framework(arguments.framework)
    print(f"training with {framework}, {arguments.workers} data workers", flush=True)
    trainer = importlib.import_module(f"train_{framework}")
    trainer.train(arguments.seconds, arguments.workers, arguments.batch_size)


if __name__ == "__main__":
    main()
