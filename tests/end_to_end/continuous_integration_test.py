"""What a CI job uses: outputs for machines, baselines, suppressions, declared intent, budgets, environment."""

import json
import re
import shutil
import unittest
import xml.etree.ElementTree as ElementTree

from support import SOURCE, EndToEnd

TRACE = SOURCE / "tests" / "golden" / "trace-2.0"
STALE = "optimizer/stale_gradients"


class Recorded(EndToEnd):
    """Judges a recorded run of a program that never clears its gradients."""

    def setUp(self):
        super().setUp()
        self.trace = self.folder / "trace"
        shutil.copytree(TRACE, self.trace)

    def judge(self, code, *words, **variables):
        self.json = self.folder / "result.json"
        process = self.dlcheck("judge", self.trace, "--select", "optimizer", "--report", f"json={self.json}",
                               *words, **variables)
        self.assertEqual(process.returncode, code, process.stderr)
        return process.stderr

    def found(self):
        """(check, what became of it) of all findings of the last judgement."""
        result = json.loads(self.json.read_text())
        return {(check["id"], finding.get("how", "open")) for check in result["checks"]
                for finding in check["findings"] + check.get("set_aside", [])}

    def configure(self, text):
        (self.folder / "dlcheck.toml").write_text(text)


class Outputs(Recorded):
    def test_junit_has_a_case_a_check_and_the_failure(self):
        path = self.folder / "junit.xml"
        self.judge(1, "--report", f"junit={path}")
        suite = ElementTree.parse(path).getroot().find("testsuite")
        self.assertEqual(suite.get("failures"), "1")
        case = next(case for case in suite if case.get("name") == "stale_gradients")
        self.assertIn("not zeroed", case.find("failure").get("message"))

    def test_several_outputs_may_be_given_and_annotations_are_printed(self):
        paths = [self.folder / name for name in ("a.xml", "b.json", "c.txt", "d.txt")]
        text = self.judge(1, "--report", f"junit={paths[0]}", "--report", f"json={paths[1]}",
                          "--report", f"text={paths[2]}", "--report", f"github={paths[3]}",
                          "--report", "github")
        self.assertTrue(all(path.stat().st_size > 0 for path in paths))
        self.assertRegex(text, rf"(?m)^::error .*title=.*\(dlcheck {STALE}\)::")
        self.assertIn(paths[3].read_text(), text)

    def test_an_unknown_output_is_refused_with_the_nearest(self):
        self.assertIn("did you mean 'junit'?", self.judge(2, "--report", "junti=x"))

    def test_junit_without_a_file_is_refused(self):
        self.assertIn("junit=FILE", self.judge(2, "--report", "junit"))

    def test_an_output_that_cannot_be_written_exits_2(self):
        self.judge(2, "--report", "junit=/proc/none/junit.xml")


class Baseline(Recorded):
    def test_what_a_baseline_holds_is_accepted_listed_and_counted(self):
        path = self.folder / "baseline.json"
        self.judge(1, "--write-baseline", path)
        text = self.judge(0, "--baseline", path)
        self.assertIn("1 accepted", text)
        self.assertIn(f"accepted: error {STALE}", text)
        self.assertEqual(self.found(), {(STALE, "accepted")})

    def test_new_only_counts_what_is_accepted(self):
        path = self.folder / "baseline.json"
        self.judge(1, "--write-baseline", path)
        text = self.judge(0, "--baseline", path, "--new-only")
        self.assertIn("1 accepted", text)
        self.assertNotIn("accepted: ", text)

    def test_the_configuration_may_name_one_beside_itself(self):
        self.judge(1, "--write-baseline", self.folder / "accepted.json")
        self.configure('baseline = "accepted.json"\n')
        inside = self.folder / "inside"
        inside.mkdir()
        self.judge(0, cwd=inside)

    def test_what_it_does_not_hold_still_fails(self):
        path = self.folder / "baseline.json"
        path.write_text('{"schema": 1, "accepted": [{"fingerprint": "0000000000000000"}]}')
        self.judge(1, "--baseline", path)
        self.assertEqual(self.found(), {(STALE, "open")})

    def test_the_command_prints_what_write_baseline_writes_and_keeps_what_was_accepted(self):
        path = self.folder / "baseline.json"
        self.judge(1, "--write-baseline", path)
        self.judge(0, "--baseline", path)
        shutil.copy(self.json, self.trace / "result.json")
        printed = self.dlcheck("accept", self.trace)
        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertEqual(printed.stdout, path.read_text())

    def test_a_baseline_that_is_missing_or_none_is_refused(self):
        self.assertIn("no-such", self.judge(2, "--baseline", "no-such.json"))
        for text in ("", "[]", '{"schema": 1}', "\xff"):
            (self.folder / "none.json").write_text(text)
            self.assertIn("is no baseline", self.judge(2, "--baseline", "none.json"))
        self.assertIn("--baseline", self.judge(2, "--new-only"))


class Suppressions(Recorded):
    def suppress(self, *lines):
        self.configure("\n".join(["[[suppress]]", *lines]) + "\n")

    def states(self):
        return [use["state"] for use in json.loads(self.json.read_text())["suppressions"]]

    def test_a_suppressed_finding_does_not_count_and_is_listed_with_its_reason(self):
        self.suppress('check = "optimizer/stale_*"', 'reason = "sums on purpose"',
                      "expires = 2999-12-31")
        self.assertIn(f"suppressed: error {STALE}", text := self.judge(0))
        self.assertIn("(sums on purpose)", text)
        self.assertEqual(self.found(), {(STALE, "suppressed")})
        self.assertEqual(self.states(), ["used"])

    def test_an_expired_one_no_longer_suppresses_and_is_said(self):
        self.suppress(f'check = "{STALE}"', 'reason = "an old loop"', "expires = 2020-01-31")
        self.assertIn("suppression expired on 2020-01-31", self.judge(1))
        self.assertEqual(self.states(), ["expired"])

    def test_one_for_another_place_is_unused_and_said(self):
        self.suppress(f'check = "{STALE}"', 'place = "other.py"', 'reason = "moved"')
        self.assertIn(f"suppression unused: {STALE} at other.py (moved)", self.judge(1))
        self.assertEqual(self.states(), ["unused"])

    def test_one_needs_a_reason_and_a_check_that_exists(self):
        self.suppress(f'check = "{STALE}"')
        self.assertIn("dlcheck.toml:1: a suppression needs a reason", self.judge(2))
        self.suppress('check = "optimizer/stale_gradient"', 'reason = "r"')
        self.assertIn(f"did you mean '{STALE}'?", self.judge(2))
        self.suppress('chek = "*"', 'reason = "r"')
        self.assertIn("did you mean 'check'?", self.judge(2))
        self.suppress('check = "*"', 'reason = "r"', 'expires = "soon"')
        self.assertIn("expires must be a date", self.judge(2))


class Intent(Recorded):
    def reason(self, identity, *words, **variables):
        self.json = self.folder / "result.json"
        process = self.dlcheck("judge", self.trace, "--select", identity, "--report", f"json={self.json}", *words,
                               **variables)
        self.assertIn(process.returncode, (0, 1, 5), process.stderr)
        return json.loads(self.json.read_text())["checks"][0]["reason"]

    def test_what_is_declared_reaches_the_checks_of_every_run(self):
        asked = "precision/autocast_not_applied"
        undeclared = self.reason(asked)
        self.assertIn("no autocast", undeclared)
        self.assertNotEqual(undeclared, self.reason(asked, "--declare", "autocast=bf16"))
        self.configure('[declare]\nautocast = "bf16"\n')
        self.assertNotEqual(undeclared, self.reason(asked))

    def test_unknown_keys_and_values_are_refused(self):
        self.assertIn("did you mean 'reduction'?", self.judge(2, "--declare", "redution=mean"))
        self.assertIn("program reduction is mean and sum, not 'max'",
                      self.judge(2, "--declare", "reduction=max"))
        self.assertIn("KEY=VALUE", self.judge(2, "--declare", "reduction"))
        self.configure("[declare]\nshuffle = 3\n")
        self.assertIn("dlcheck.toml:2: shuffle must be", self.judge(2))

    def test_a_budget_becomes_the_limit_of_its_check(self):
        asked = "performance/memory"
        self.assertNotIn("limit", self.reason(asked).replace("no limit was given", ""))
        for memory in ('"2 GiB"', "2147483648", '"2.5GB"'):
            self.configure(f"[budget]\nmemory = {memory}\nstep_time = 0.5\n")
            self.assertNotEqual(self.reason(asked), "no limit was given")
        for wrong in ('memory = "2 Gigs"', "step_time = -1", "speed = 3"):
            self.configure(f"[budget]\n{wrong}\n")
            self.assertIn("dlcheck.toml:2: ", self.judge(2))


class Environment(Recorded):
    def test_variables_stand_over_the_file_and_under_flags(self):
        self.configure('fail_on = "note"\n')
        self.judge(2, DLCHECK_FAIL_ON="fatal")
        self.judge(1, "--fail-on", "error", DLCHECK_FAIL_ON="fatal")

    def test_variables_set_sections_lists_and_settings(self):
        self.judge(1, DLCHECK_DECLARE__REDUCTION="sum", DLCHECK_BUDGET__MEMORY="2 GiB",
                   DLCHECK_BUDGET__STEP_TIME="0.5", DLCHECK_IGNORE="data, training_loop",
                   DLCHECK_SETTINGS__GRADIENTS__EXPLODING__RATIO="7", DLCHECK_DEEP_TIMEOUT="30")
        self.judge(2, DLCHECK_SETTINGS__GRADIENTS__EXPLODING__RATIO="-7")

    def test_an_unknown_one_of_a_section_is_refused_with_its_name_and_others_are_left_alone(self):
        text = self.judge(2, DLCHECK_DECLARE__REDUTION="sum")
        self.assertTrue(re.match(r"dlcheck: DLCHECK_DECLARE__REDUTION: .*did you mean", text), text)
        self.judge(2, DLCHECK_PROGRM__REDUCTION="sum")
        self.judge(1, DLCHECK_SOMETHING="else")


class Required(Recorded):
    def test_a_required_check_without_a_verdict_exits_4(self):
        self.configure('require = ["learnability/cannot_overfit_one_batch"]\n')
        process = self.dlcheck("judge", self.trace, "--select", "training_loop", "--select", "learnability")
        self.assertEqual(process.returncode, 4, process.stderr)


class NothingToCheck(EndToEnd):
    def test_a_program_that_trains_nothing_exits_5_and_is_told(self):
        process = self.run_command("true")
        self.assertEqual(process.returncode, 5)
        self.assertIn("nothing to check: no training was observed", process.stderr)

    def test_one_that_fails_before_it_trains_is_a_finding(self):
        self.assertEqual(self.run_command("false").returncode, 1)

    def test_an_isolated_python_is_told_how_to_be_watched(self):
        for words in (["-I"], ["-W", "ignore", "-uE"], ["-S"]):
            with self.subTest(words=words):
                process = self.run_command("python3", *words, "-c", "pass")
                self.assertEqual(process.returncode, 5)
                self.assertIn("not observed; use python -m dlcheck.run", process.stderr)

    def test_a_torch_that_the_probe_cannot_watch_is_told(self):
        torch = self.out.parent / "elsewhere/torch"
        torch.mkdir(parents=True)
        torch.joinpath("__init__.py").write_text("")
        process = self.run_command("python3", "-c", "import torch", PYTHONPATH=str(torch.parent))
        self.assertEqual(process.returncode, 5)
        self.assertRegex(process.stderr, "the probe could not start: [A-Z][a-zA-Z]+Error: .*torch")

    def test_one_that_fails_too_is_told_as_well(self):
        process = self.run_command("python3", "-I", "-c", "raise SystemExit(3)")
        self.assertEqual(process.returncode, 1)
        self.assertIn("not observed; use python -m dlcheck.run", process.stderr)

    def test_the_options_of_a_script_are_not_the_interpreters(self):
        process = self.run_command("python3", "-c", "pass", "-I")
        self.assertNotIn("not observed", process.stderr)


class Reports(Recorded):
    def report(self, *words):
        return self.dlcheck("report", self.out, *words)

    def test_a_result_is_rendered_again_to_the_same_bytes(self):
        baseline = self.folder / "baseline.json"
        self.judge(1, "--write-baseline", baseline)
        self.configure('[[suppress]]\ncheck = "training_loop/*"\nreason = "r"\n')
        names = ("result.xml", "result.json")

        def outputs(folder):
            folder.mkdir()
            return ["--report", f"junit={folder / names[0]}", "--report", f"json={folder / names[1]}",
                    "--report", "github"]

        judged = self.dlcheck("judge", self.trace, "--baseline", baseline, "--fail-on", "note",
                              *outputs(self.out))
        reported = self.report(*outputs(self.folder / "again"))
        self.assertEqual(reported.returncode, judged.returncode, reported.stderr)
        for name in names:
            self.assertEqual((self.folder / "again" / name).read_text(), (self.out / name).read_text())
        text = " ".join(reported.stderr.replace(str(self.out / "result.json"), "").split())
        self.assertEqual(text, " ".join(judged.stderr.split()))

    def test_what_is_no_result_of_ours_is_refused(self):
        self.judge(1)
        result = json.loads(self.json.read_text())
        self.out.mkdir()
        for text, word in (("{", "no result.json"), ('{"tool": 3}', "damaged"),
                           (json.dumps(dict(result, tool={"version": "9.9"})), "of dlcheck 9.9"),
                           (json.dumps(dict(result, checks=[dict(result["checks"][0], id="no/such")])),
                            "no/such"),
                           (json.dumps(dict(result, checks=[7])), "damaged")):
            (self.out / "result.json").write_text(text)
            process = self.report()
            self.assertEqual(process.returncode, 2, process.stderr)
            self.assertIn(word, process.stderr)


class Guide(Recorded):
    def test_its_configuration_is_accepted(self):
        guide = (SOURCE / "docs" / "guides" / "configuration.md").read_text()
        self.configure(re.search(r"(?s)```toml\n(.*?)```", guide).group(1))
        self.judge(1)


if __name__ == "__main__":
    unittest.main()
