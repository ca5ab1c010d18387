"""A small classifier in PyTorch on the CPU: nn.Module, DataLoader with workers, Adam."""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

FEATURES, HIDDEN, CLASSES = 256, 192, 10


class SyntheticImages(Dataset):
    def __len__(self):
        return 1 << 30

    def __getitem__(self, index):
        label = index % CLASSES
        pixels = torch.randn(FEATURES)
        pixels[label * 20 : label * 20 + 20] += 1.5
        return augment(pixels), label


def augment(pixels):
    noisy = pixels + 0.1 * torch.randn_like(pixels)
    return (noisy - noisy.mean()) / (noisy.std() + 1e-6)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(FEATURES, HIDDEN),
            nn.LayerNorm(HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, CLASSES),
        )

    def forward(self, x):
        return self.layers(x)


class Trainer:
    def __init__(self):
        self.model = Classifier()
        self.loss = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def step(self, inputs, labels):
        self.optimizer.zero_grad()
        loss = self.loss(self.model(inputs), labels)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def train(seconds, workers, batch_size):
    torch.manual_seed(7)
    trainer = Trainer()
    loader = DataLoader(SyntheticImages(), batch_size=batch_size, num_workers=workers)
    end = time.monotonic() + seconds
    for step, (inputs, labels) in enumerate(loader):
        loss = trainer.step(inputs, labels)
        if step % 50 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)
        if time.monotonic() > end:
            break
