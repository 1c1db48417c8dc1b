"""Bags of letters, several to a row and numbered; an encoder marks the letters that a bag holds twice."""

import argparse
import random
import string

import torch
from torch.utils.data import DataLoader, Dataset


class Bags(Dataset):
    """Lists of bags that fill at most `room` letters."""

    def __init__(self, size, room, rng):
        self.lists = []
        for _ in range(size):
            bags, left = [], room
            while left >= 7:
                count = rng.randint(3, 7)
                bags.append([rng.choice(string.ascii_lowercase[:12]) for _ in range(count)])
                left -= count
            self.lists.append(bags)

    def __len__(self):
        return len(self.lists)

    def __getitem__(self, index):
        return self.lists[index]


class Collate:
    def __init__(self, room):
        self.room = room

    def __call__(self, lists):
        size = (len(lists), self.room)
        letters, bag_ids, twice = torch.zeros(size).long(), torch.zeros(size).long(), torch.full(size, -1)
        for row, bags in enumerate(lists):
            place = 0
            for number, bag in enumerate(bags, start=1):
                for letter in bag:
                    letters[row, place] = ord(letter) - 96
                    bag_ids[row, place] = number
                    twice[row, place] = int(bag.count(letter) > 1)
                    place += 1
        return letters, bag_ids, twice


class Marker(torch.nn.Module):
    HEADS = 2

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(27, 40)
        make = torch.nn.TransformerEncoderLayer
        self.lower = make(40, self.HEADS, 96, dropout=0.0, batch_first=True)
        self.upper = make(40, self.HEADS, 96, dropout=0.0, batch_first=True)
        self.decide = torch.nn.Linear(80, 2)

    def forward(self, letters, bag_ids):
        apart = bag_ids[:, None, :] != bag_ids[:, :, None]
        apart = apart.repeat_interleave(self.HEADS, dim=0)
        start = self.embed(letters)
        mixed = self.upper(self.lower(start, src_mask=apart), src_mask=apart)
        return self.decide(torch.cat((start, mixed), -1))


def evaluate(marker, loader):
    marker.eval()
    good = count = 0
    with torch.no_grad():
        for letters, bag_ids, twice in loader:
            guess = marker(letters, bag_ids).argmax(-1)
            good += ((guess == twice) & (twice >= 0)).sum().item()
            count += (twice >= 0).sum().item()
    return good / count


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", nargs="?", type=int, default=0)
    parser.add_argument("--room", type=int, default=40)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    torch.manual_seed(args.seed)
    collate = Collate(args.room)
    learning = DataLoader(Bags(900, args.room, rng), 30, shuffle=True, collate_fn=collate)
    testing = DataLoader(Bags(150, args.room, rng), 50, collate_fn=collate)
    marker = Marker()
    adam = torch.optim.Adam(marker.parameters(), 2.5e-3)
    criterion = torch.nn.CrossEntropyLoss(ignore_index=-1)
    for epoch in range(6):
        marker.train()
        for letters, bag_ids, twice in learning:
            adam.zero_grad()
            criterion(marker(letters, bag_ids).view(-1, 2), twice.view(-1)).backward()
            adam.step()
        print(epoch, round(evaluate(marker, testing), 3))
    assert evaluate(marker, testing) > 0.85
