"""The share that each term of a loss has in the gradient, which terms there are, and that to ask for it
leaves no trace."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

# Each test puts something else in the places in capitals.
PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn.functional as F
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(12, 16), LAYER, torch.nn.Tanh(), torch.nn.Linear(16, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    BEGIN
    for step in range(24):
        x = torch.randn(16, 12)
        optimizer.zero_grad()
        outputs = model(x)
        main, aux = F.cross_entropy(outputs, x[:, :4].argmax(1)), outputs.square().mean()
        loss = LOSS
        BACKWARD
        optimizer.step()
    """
)
PLACES = {"LAYER": "torch.nn.Identity()", "BEGIN": "pass", "BACKWARD": "loss.backward()"}


def source_of(loss, **places):
    source = PROGRAM
    for place, text in {**PLACES, **places, "LOSS": loss}.items():
        source = source.replace(place, text)
    return source


def tried(loss, steps=8, **places):
    run = run_watched(python("-c", source_of(loss, **places)), experiment="trials", steps=steps)
    assert run.status == 0, run.err
    return run


def terms(loss, **places):
    """({name: [(share, value, factor)]}, why none were tried)."""
    trace = tried(loss, **places).main
    found = {}
    for share, value in zip(trace.of("quantity", "term_share"), trace.of("quantity", "term_value")):
        found.setdefault(share.thing[2], []).append((share.value, value.value, value.aux))
    return found, trace.process.get("untried/terms")


class Terms(unittest.TestCase):
    def assert_terms(self, names, loss, **places):
        found, reason = terms(loss, **places)
        count = len(names)
        self.assertEqual(list(found), [f"term {i} of {count}, {name}" for i, name in enumerate(names, 1)],
                         (loss, reason))  # fmt: skip
        self.assertTrue(all(len(moments) == 4 for moments in found.values()), loss)
        return list(found.values())

    def test_what_stands_in_for_a_function_is_called_once_and_as_the_program_calls_it(self):
        begin = "own = F.cross_entropy; F.cross_entropy = lambda x, y: 1.5 * own(x, y)"
        places = {"BEGIN": begin, "BACKWARD": "print(loss.item()); loss.backward()"}
        runs = [tried("main + 1e-6 * aux", **places), tried("main", **places)]
        plain = run_watched(python("-c", source_of("main", **places)))
        for run in runs:
            own = [float(line) for line in run.out.split()]
            for one, other in zip(own, map(float, plain.out.split())):
                self.assertAlmostEqual(one, other, delta=1e-5)
            self.assertEqual(len(own), 8)

    def test_sums_of_all_spellings_have_the_same_terms(self):
        for loss in (
            "main + 1e-6 * aux", "sum([main, aux / 1e6])", "(2 * main - -2e-6 * aux) / 2 + 3",
            "torch.stack([main, aux * torch.tensor(1e-6)]).mean()", "torch.add(main, aux, alpha=1e-6)",
            "-(0 - main - 1e-6 * aux.view(1))", "(aux * 1e-6 + main).mean() - 0 * aux",
        ):  # fmt: skip
            found, reason = terms(loss)
            shares = {name.split(", ")[1]: moments for name, moments in found.items()}
            self.assertEqual(set(shares), {"cross_entropy", "mean"}, (loss, reason))
            for share, _, factor in shares["mean"]:
                self.assertAlmostEqual(abs(factor), 1e-6, delta=1e-9, msg=loss)
                self.assertTrue(1e-8 < share < 1e-5, (loss, share))

    def test_values_and_shares_are_those_of_the_terms(self):
        main, twice = self.assert_terms(["cross_entropy", "mean"], "main + aux + aux")
        for (share, _, factor), (other, value, double) in zip(main, twice):
            self.assertEqual((factor, double), (0.5, 1))
            self.assertAlmostEqual(share + other, 1)
            self.assertTrue(0 < value < 1)

    def test_a_term_off_the_graph_has_no_share(self):
        for aux in ("aux.detach()", "1e-3 * outputs.detach().square().mean()",
                    "sum(p.data.norm() for p in model.parameters())"):  # fmt: skip
            _, (*off,) = self.assert_terms(["cross_entropy", aux and off_name(aux)], f"main + {aux}")
            self.assertEqual({share for share, *_ in off}, {0.0})
            self.assertGreater(len({value for _, value, _ in off}), 1)

    def test_what_is_no_term(self):
        for loss in (
            "main + 3", "main + x.mean()", "main + 0 * aux", "main + aux.item()",
            "main + torch.zeros_like(aux)", "main + (aux - main).detach()", "main * aux.detach()",
            "(main + 1) * aux",
        ):  # fmt: skip
            self.assertEqual(terms(loss), ({}, "the loss is not a sum of 2 to 12 terms"), loss)

    def test_what_is_alone_somewhere_is_not_small_there(self):
        _, alone = self.assert_terms(["cross_entropy", "parameter"], "main + 1e-9 * other[0]",
                                     BEGIN="other = [torch.nn.Parameter(torch.ones(()))]")
        self.assertEqual({share for share, *_ in alone}, {1.0})

    def test_where_it_would_run_code_of_the_program(self):
        hook = "model[0].weight.register_hook(lambda g: g)"
        checkpoint = "from torch.utils.checkpoint import checkpoint"
        own = "code of the program runs during backward"
        for places, reason in (
            ({"BEGIN": hook}, "gradients are changed by hooks, or are on several devices"),
            ({"BACKWARD": "outputs.retain_grad(); loss.backward()"}, own),
            ({"BACKWARD": "aux.register_hook(lambda g: g); loss.backward()"}, own),
            ({"BEGIN": f"{checkpoint}; checkpoint(model, torch.ones(2, 12), use_reentrant=False)"}, own),
            ({"BEGIN": "model[3].register_full_backward_hook(lambda *_: None)"},
             "backward runs custom autograd functions"),
            ({"BACKWARD": "loss.backward(torch.tensor(2.0))"},
             "backward() is called with a gradient argument"),
            ({"BACKWARD": "loss.backward(inputs=list(model.parameters()))"},
             "backward() is called with inputs="),
            ({"BEGIN": "torch.set_default_device('cpu')"}, "the program has modes that see calls of torch"),
            ({"BEGIN": "compiled = torch.compile(model)"}, "the program compiles code"),
        ):  # fmt: skip
            self.assertEqual(terms("main + aux", **places), ({}, reason), places)

    def test_nothing_of_the_program_is_changed(self):
        told = ("loss.backward(); print([float(t.double().sum()) for t in (*model.state_dict().values(),"
                " *(p.grad for p in model.parameters()), torch.get_rng_state())], flush=True)")
        places = {"LAYER": "torch.nn.Sequential(torch.nn.BatchNorm1d(16), torch.nn.Dropout(0.3))",
                  "BACKWARD": told}  # fmt: skip
        source = PROGRAM
        for place, text in {**PLACES, **places, "LOSS": "main + 0.1 * aux"}.items():
            source = source.replace(place, text)
        plain = run_watched(python("-c", source), experiment="plain", steps=8)
        run = tried("main + 0.1 * aux", **places)
        self.assertTrue(run.main.of("quantity", "term_share"))
        self.assertEqual(run.out, plain.out)


def off_name(text):
    return {"a": "detach", "1": "mul", "s": "add"}[text[0]]


if __name__ == "__main__":
    unittest.main()
