"""`dlcheck judge --export` writes what other tools read."""

import csv
import pathlib
import struct
import sys
import unittest

from support import SOURCE, EndToEnd

LOGS = SOURCE / "tests" / "logs"
RECORDING = pathlib.Path(__file__).with_name("recording.py")


def checksum(content):
    """The masked CRC-32C of TFRecord, bit by bit."""
    rest = 0xFFFFFFFF
    for byte in content:
        rest ^= byte
        for _ in range(8):
            rest = rest >> 1 ^ (0x82F63B78 if rest & 1 else 0)
    rest ^= 0xFFFFFFFF
    return ((rest >> 15 | rest << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(content):
    """Of an event file, each with both checksums compared."""
    at = 0
    while at < len(content):
        head = content[at : at + 8]
        (size,) = struct.unpack("<Q", head)
        event = content[at + 12 : at + 12 + size]
        sums = struct.unpack("<I", content[at + 8 : at + 12]) + struct.unpack("<I", content[at + 12 + size :][:4])
        yield event, sums == (checksum(head), checksum(event))
        at += 16 + size


class Export(EndToEnd):
    def export(self, log, target):
        process = self.dlcheck("judge", log, "--export", target)
        self.assertEqual(process.returncode, 0, process.stderr)
        return process.stderr

    def judged(self, path):
        process = self.dlcheck("judge", path)
        self.assertEqual(process.returncode, 0, process.stderr)
        return process.stderr

    def test_a_table_has_every_number_in_full(self):
        self.export(LOGS / "mlflow", f"csv={self.folder / 'run.csv'}")
        with open(self.folder / "run.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        written = [line.split() for line in (LOGS / "mlflow/metrics/loss").read_text().splitlines()]
        self.assertEqual([(row["step"], float(row["loss/loss"])) for row in rows],
                         [(step, float(value)) for _, value, step in written])  # fmt: skip
        self.assertEqual(rows[24]["eval/accuracy"], "0.95999999999999996")

    def test_an_event_file_has_the_checksums_of_tensorboard(self):
        self.export(LOGS / "mlflow", f"tensorboard={self.folder / 'board'}")
        (file,) = pathlib.Path(self.folder, "board").glob("events.out.tfevents.*")
        ours = list(records(file.read_bytes()))
        theirs = list(records(next((LOGS / "tensorboard").iterdir()).read_bytes()))
        self.assertTrue(all(fits for _, fits in ours + theirs))
        self.assertEqual(ours[0][0][9:], theirs[0][0][9:])  # the version, behind the time
        self.assertIn("event file of TensorBoard, 74 numbers", self.judged(self.folder / "board"))

    def test_a_tracking_folder_of_mlflow_can_be_read_back(self):
        self.export(LOGS / "lightning", f"mlflow={self.folder / 'mlruns'}")
        self.export(LOGS / "lightning", f"mlflow={self.folder / 'mlruns'}")
        first, second = (path for path in (self.folder / "mlruns/0").iterdir() if path.is_dir())
        self.assertIn("run of MLflow, 60 numbers", self.judged(first))
        self.assertIn("run of MLflow, 60 numbers", self.judged(second))

    def test_names_cannot_leave_the_folder_or_stand_in_each_others_way(self):
        lines = ('{"step": 1, "loss": 1, "../../up": 2, "a": 3, "a/b": 4, "a/b/c": 5, "odd\\u0001#name": 6}',)
        (self.folder / "log.jsonl").write_text("\n".join(lines * 2) + "\n")
        self.export(self.folder / "log.jsonl", f"mlflow={self.folder / 'mlruns'}")
        (metrics,) = (self.folder / "mlruns").glob("0/*/metrics")
        names = sorted(str(path.relative_to(metrics)) for path in metrics.rglob("*") if path.is_file())
        self.assertEqual(names, ["_/_/up", "a/b/c", "a/b_", "a_", "loss/loss", "odd__name"])

    def test_records_of_a_watched_program_are_exported_with_their_parameters(self):
        watched = self.run_command(sys.executable, RECORDING, 6, "--healthy", options=["--exit-code", "program"])
        self.assertEqual(watched.returncode, 0, watched.stderr)
        self.export(self.out, f"csv={self.folder / 'run.csv'}")
        head, *rows = (self.folder / "run.csv").read_text().splitlines()
        self.assertEqual((head, len(rows)), ("step,loss/mse_loss,gradient_norm/weight,total_gradient_norm/optimizer#0", 6))

    def test_what_cannot_be_written_is_refused(self):
        for target, words in (("csv", "write csv=FILE"), ("excel=a", "write csv=FILE"),
                              (f"csv={self.folder}/none/a.csv", "cannot write")):  # fmt: skip
            process = self.dlcheck("judge", LOGS / "lightning", "--export", target)
            self.assertEqual(process.returncode, 2, process.stderr)
            self.assertIn(words, process.stderr)


if __name__ == "__main__":
    unittest.main()
