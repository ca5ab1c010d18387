"""A two-layer classifier in plain numpy; the batches come from worker processes."""

import multiprocessing
import os
import queue
import signal
import time

import numpy as np

FEATURES, HIDDEN, CLASSES = 256, 192, 10


def make_example(rng):
    label = int(rng.integers(CLASSES))
    pixels = rng.normal(size=FEATURES)
    pixels[label * 20 : label * 20 + 20] += 1.5
    return pixels, label


def augment(pixels, rng):
    noisy = pixels + 0.1 * rng.normal(size=pixels.shape)
    return (noisy - noisy.mean()) / (noisy.std() + 1e-6)


def load_batch(rng, batch_size):
    inputs = np.empty((batch_size, FEATURES))
    labels = np.empty(batch_size, dtype=np.int64)
    for i in range(batch_size):
        pixels, labels[i] = make_example(rng)
        inputs[i] = augment(pixels, rng)
    return inputs, labels


def data_worker(batches, seed, batch_size):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    batches.cancel_join_thread()
    rng = np.random.default_rng(seed)
    parent = os.getppid()
    while os.getppid() == parent:
        batch = load_batch(rng, batch_size)
        try:
            batches.put(batch, timeout=5)
        except queue.Full:
            continue


class DataLoader:
    def __init__(self, workers, batch_size):
        self.batches = multiprocessing.Queue(maxsize=4 * max(workers, 1))
        self.batch_size = batch_size
        self.rng = np.random.default_rng(0)
        self.workers = [
            multiprocessing.Process(
                target=data_worker, args=(self.batches, seed + 1, batch_size), daemon=True
            )
            for seed in range(workers)
        ]
        for worker in self.workers:
            worker.start()

    def __iter__(self):
        while True:
            yield self.batches.get() if self.workers else load_batch(self.rng, self.batch_size)


class Linear:
    def __init__(self, rng, inputs, outputs):
        self.weight = rng.normal(size=(inputs, outputs)) * np.sqrt(2.0 / inputs)
        self.bias = np.zeros(outputs)

    def forward(self, x):
        self.x = x
        return x @ self.weight + self.bias

    def backward(self, grad):
        self.weight_grad = self.x.T @ grad
        self.bias_grad = grad.sum(axis=0)
        return grad @ self.weight.T


class Model:
    def __init__(self, rng):
        self.first = Linear(rng, FEATURES, HIDDEN)
        self.second = Linear(rng, HIDDEN, CLASSES)

    def forward(self, x):
        self.active = self.first.forward(x)
        return self.second.forward(np.maximum(self.active, 0))

    def backward(self, grad):
        grad = self.second.backward(grad)
        return self.first.backward(grad * (self.active > 0))

    def layers(self):
        return [self.first, self.second]


def cross_entropy(logits, labels):
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities = shifted / shifted.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    loss = -np.log(probabilities[rows, labels] + 1e-12).mean()
    probabilities[rows, labels] -= 1
    return loss, probabilities / len(labels)


class AdamOptimizer:
    def __init__(self, layers, rate=1e-3):
        self.layers, self.rate, self.steps = layers, rate, 0
        self.moments = {}

    def update(self, key, value, grad):
        first, second = self.moments.get(key, (np.zeros_like(grad), np.zeros_like(grad)))
        first = 0.9 * first + 0.1 * grad
        second = 0.999 * second + 0.001 * grad * grad
        self.moments[key] = first, second
        scale = np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
        value -= self.rate * scale * first / (np.sqrt(second) + 1e-8)

    def step(self):
        self.steps += 1
        for i, layer in enumerate(self.layers):
            self.update((i, "weight"), layer.weight, layer.weight_grad)
            self.update((i, "bias"), layer.bias, layer.bias_grad)


class Trainer:
    def __init__(self):
        self.model = Model(np.random.default_rng(7))
        self.optimizer = AdamOptimizer(self.model.layers())

    def step(self, inputs, labels):
        logits = self.model.forward(inputs)
        loss, grad = cross_entropy(logits, labels)
        self.model.backward(grad)
        self.optimizer.step()
        return loss


def train(seconds, workers, batch_size):
    trainer = Trainer()
    loader = DataLoader(workers, batch_size)
    end = time.monotonic() + seconds
    for step, (inputs, labels) in enumerate(loader):
        loss = trainer.step(inputs, labels)
        if step % 50 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)
        if time.monotonic() > end:
            break
