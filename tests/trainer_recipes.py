"""The recipes of reference/GUIDE.md: how each is run, and what its score is."""

import dataclasses
import functools
import gzip
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("DLCHECK_BUILD", ROOT / "build"))
GUIDE, BANDS = ROOT / "reference/GUIDE.md", ROOT / "reference/bands.json"


@dataclasses.dataclass(frozen=True)
class Recipe:
    score: str  # in words
    field: str  # of an evaluation in the log
    words: tuple = ()  # for dlcheck-train, beside the recipe
    data: str = ""  # made of the digits with these words of dlcheck-data import


RECIPES = {
    "digits": Recipe("validation accuracy", "val_accuracy"),
    "text": Recipe("validation loss", "val_loss", ("--steps", "60", "--evaluate-every", "20", "--evaluate-samples", "64")),
    "regression": Recipe("validation loss", "val_loss", data="--target-kind numbers"),
    "contrastive": Recipe("validation accuracy", "val_accuracy"),
    "diffusion": Recipe("validation loss", "val_loss"),
}


@functools.cache
def table_of_digits():
    """A folder with digits.csv, which lasts as long as this process."""
    folder = tempfile.TemporaryDirectory(prefix="dlcheck-guide-")
    with gzip.open(ROOT / "fixtures/data/digits.csv.gz", "rt") as table:
        pathlib.Path(folder.name, "digits.csv").write_text(table.read())
    return folder


def words_of(name, folder):
    """What the guide says to run for the data, and the words for dlcheck-train."""
    recipe = RECIPES[name]
    words = ["--recipe", ROOT / f"reference/recipes/{name}.toml", *recipe.words]
    if recipe.data:
        data = pathlib.Path(folder, "data.h5")
        table = pathlib.Path(table_of_digits().name, "digits.csv")
        subprocess.run([BUILD / "bin/dlcheck-data", "import", *recipe.data.split(), table, data], check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        words += ["--data", data]
    return words


def curve_of(name, seed):
    """(step, score) of each evaluation."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "log.jsonl")
        subprocess.run([BUILD / "bin/dlcheck-train", *words_of(name, folder), "--seed", str(seed), "--log", log,
                        "--threads", "1"],
                       check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [(line["step"], line[RECIPES[name].field]) for line in lines if RECIPES[name].field in line]
