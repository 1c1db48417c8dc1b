"""An installed tree serves C++ users: the package builds a loop of their own under each standard and compiler, and
`dlcheck probe` builds what watches a program that knows nothing of dlcheck."""

import shutil
import subprocess
import textwrap
import unittest

from support import BUILD, TORCH_PYTHON, EndToEnd, drawn, environment

COMPILERS = [(compiler, standard) for compiler in ("g++", "clang++-16") for standard in (17, 20)]
LOOP = textwrap.dedent(
    """
    #include <torch/torch.h>
    #include "dlcheck/probe.h"
    int main() {
      torch::manual_seed(0);
      torch::nn::Sequential net(torch::nn::Linear(4, 8), torch::nn::ReLU(), torch::nn::Linear(8, 2));
      dlcheck::Probe probe(*net);
      auto optimizer = probe.Wrap(torch::optim::SGD(net->parameters(), 0.1));
      for (int i = 0; i < 20; ++i) {
        torch::Tensor x = torch::randn({16, 4}), y = x.select(1, 0).gt(0).to(torch::kLong);
        torch::Tensor logits = net->forward(x), loss = torch::nn::functional::cross_entropy(logits, y);
        probe.Loss(loss, logits, y);
        loss.backward();
        optimizer.step();
      }
    }
    """
)
PACKAGE = textwrap.dedent(
    """
    cmake_minimum_required(VERSION 3.25)
    project(loop CXX)
    find_package(dlcheck REQUIRED)
    add_executable(loop loop.cc)
    target_link_libraries(loop PRIVATE dlcheck::probe)
    """
)
PROGRAM = BUILD / "tests" / "programs_cpp" / "unchanged_programs"


class InstalledCpp(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_trainer()

    def install(self, *component):
        tree = self.folder / "tree"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", tree, *component], check=True,
                       stdout=subprocess.DEVNULL)
        return tree

    def succeeds(self, *words, **variables):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, cwd=self.folder,
                              env=environment(**variables), check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_the_package_builds_a_loop_under_each_standard_and_compiler(self):
        tree = self.install()
        (self.folder / "loop.cc").write_text(LOOP)
        (self.folder / "CMakeLists.txt").write_text(PACKAGE)
        for compiler, standard in drawn(COMPILERS, 4):
            if shutil.which(compiler) is None:
                continue
            with self.subTest(compiler=compiler, standard=standard):
                build = self.folder / f"{compiler}{standard}"
                self.succeeds("cmake", "-S", self.folder, "-B", build, f"-Ddlcheck_DIR={tree}/lib/cmake/dlcheck",
                              f"-DDLCHECK_PYTHON={TORCH_PYTHON}", f"-DCMAKE_CXX_COMPILER={compiler}",
                              f"-DCMAKE_CXX_STANDARD={standard}", "-DCMAKE_CXX_STANDARD_REQUIRED=ON")
                self.succeeds("cmake", "--build", build)
                process = subprocess.run([tree / "bin" / "dlcheck", "run", "--output-dir", self.out, "--", build / "loop"],
                                         capture_output=True, text=True, env=environment(), check=False)
                self.assertEqual(process.returncode, 1, process.stderr)
                self.assertEqual(self.result()["order"][0]["id"], "optimizer/stale_gradients")
                self.assertIn("loop.cc:12", process.stderr)  # that of probe.Loss
                self.assertNotIn("RecordFunction", process.stderr)

    def test_a_probe_is_built_for_the_libtorch_of_a_program_once(self):
        tree = self.install("--component", "command")
        dlcheck, cache = tree / "bin" / "dlcheck", {"XDG_CACHE_HOME": str(self.folder / "cache")}

        def run():
            return subprocess.run([dlcheck, "run", "--output-dir", self.out, "--", PROGRAM, "own_function"],
                                  capture_output=True, text=True, env=environment(**cache), check=False)

        before = run()
        self.assertEqual(before.returncode, 5)
        self.assertIn(f"`dlcheck probe {PROGRAM}` builds it", before.stderr)
        self.assertIn("built", self.succeeds(dlcheck, "probe", PROGRAM, **cache).stdout)
        self.assertIn("is there", self.succeeds(dlcheck, "probe", PROGRAM, **cache).stdout)
        after = run()
        self.assertEqual(after.returncode, 0, after.stderr)
        self.assertTrue(after.stderr.startswith("dlcheck  "), after.stderr)
        self.assertGreater(self.result()["coverage"]["steps"], 100)

    def test_what_is_no_libtorch_is_refused_in_one_line(self):
        done = self.dlcheck("probe", "/bin/ls")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "dlcheck: '/bin/ls' is neither a LibTorch nor a program linked dynamically "
                                      "with one\n")


if __name__ == "__main__":
    unittest.main()
