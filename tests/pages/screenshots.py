"""Five reports of real runs, a picture of each at two widths, their sizes and the milliseconds until each is open.

screenshots.py FOLDER
"""

import pathlib
import shutil
import subprocess
import sys

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
DLCHECK, PYTHON = ROOT / "build/bin/dlcheck", ROOT / ".venv/bin/python3"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
WIDTHS = (360, 1600)
HEALTHY = (ROOT / "tests/programs/hosts/plain_script.py").read_text()
DEEP = """
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(*(torch.nn.Linear(8, 8) for _ in range(1000)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(12):
    optimizer.zero_grad()
    net(torch.randn(16, 8)).square().mean().backward()
    optimizer.step()
"""
RANKS = """
import torch
from torch.nn.parallel import DistributedDataParallel
torch.distributed.init_process_group("gloo")
torch.manual_seed(torch.distributed.get_rank())
net = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(60):
    optimizer.zero_grad()
    x = torch.randn(16, 8)
    torch.nn.functional.mse_loss(net(x)[:, 0], x.sum(1)).backward()
    optimizer.step()
torch.distributed.destroy_process_group()
"""


def programs():
    """By name, the text of a program."""
    return {
        "healthy": HEALTHY,
        "faulty": "\n".join(line for line in HEALTHY.splitlines() if "zero_grad()" not in line),
        "nonfinite": HEALTHY.replace("loss.backward()", "(loss / (epoch != 3)).backward()"),
        "two_ranks": RANKS,
        "thousand_layers": DEEP,
    }


def reported(name, text, folder):
    """The report of a run of this program."""
    program, out = folder / f"{name}.py", folder / f"{name}-out"
    program.write_text(text)
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", "2"] if name == "two_ranks" else []
    subprocess.run([DLCHECK, "run", "--output-dir", out, "--", PYTHON, "-W", "ignore", *launcher, program],
                   cwd=folder, capture_output=True, check=False)  # fmt: skip
    return out / "report.html"


def pictured(browser, report, name, folder):
    """Milliseconds until the page is open; pictures of it go into the folder."""
    for width in WIDTHS:
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(f"file://{report}")
        page.screenshot(path=folder / f"{name}-{width}.png", full_page=True)
        opened = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        page.close()
    return opened


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name, text in programs().items():
            report = reported(name, text, folder)
            opened = pictured(browser, report, name, folder)
            print(f"{name}: {report.stat().st_size / 1024:.0f} KiB, open after {opened:.0f} ms", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
