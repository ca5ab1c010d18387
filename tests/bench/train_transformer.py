"""A small transformer on the CPU, with data workers: `train_transformer.py SECONDS WORKERS`."""

import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Characters(Dataset):
    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        text = torch.randint(0, 64, (65,), generator=generator)
        return text[:-1], text[1:]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(64, 128)
        layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(128, 64)

    def forward(self, text):
        return self.head(self.encoder(self.embedding(text)))


def main():
    model, loss_function = Model(), nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters())
    end = time.monotonic() + float(sys.argv[1])
    for step, (text, wanted) in enumerate(
        DataLoader(Characters(), batch_size=32, num_workers=int(sys.argv[2]))
    ):
        optimizer.zero_grad()
        loss = loss_function(model(text).flatten(0, 1), wanted.flatten())
        loss.backward()
        optimizer.step()
        if step == 0:
            print("ready", flush=True)
        if time.monotonic() > end:
            break


if __name__ == "__main__":
    main()
