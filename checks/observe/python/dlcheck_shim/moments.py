"""The moments of a watched run at which parts of the probe tell each other something.

The part that meets a moment calls it; each part that wants to hear of it adds a function in its method
`subscribe(moments)`. Functions are called in the order in which they were added: `Watch.subscribe_all` has
that order. A part needs no torch program for a test: a `Moments` is enough, which the test calls.
"""


class Moment(list):
    """Functions; a call of the moment calls each with what it was given."""

    __slots__ = ()

    def __call__(self, *given):
        for function in self:
            function(*given)


class Moments:
    def __init__(self):
        # The process and its random numbers.
        self.begins_anew = Moment()  # (): in the child of a fork, and where another run of the process begins
        self.seeded = Moment()  # (seed): torch.manual_seed was called
        self.optimizer_made = Moment()  # (optimizer)
        self.optimizer_named = Moment()  # (optimizer, thing): it is met for the first time
        self.mode_changed = Moment()  # (): train() or eval() was called, or an optimizer was made
        # Data.
        self.pass_begins = Moment()  # (): an iteration over a loader begins
        self.batch_enters = Moment()  # (inputs): before a training batch is recorded; sampled steps only
        self.batch_compared = Moment()  # the same, after it: in those of the steps that `Recorder.compares`
        self.rows_trained = Moment()  # (numbers): of the rows of a batch that a model trains on
        # Models.
        self.model_met = Moment()  # (root module, model): at its first forward
        self.module_named = Moment()  # (module, thing): a part of a model is met for the first time
        self.layer_built = Moment()  # (layer): one of many that forwards build and leave behind
        self.stranger_gave = Moment()  # (output): of a module that nobody trains, without gradients, in compared steps
        self.forward_given = Moment()  # (model, inputs): a model that trains is called, in sampled steps or not
        self.forward_gave = Moment()  # (model, output): the same call ended
        self.evaluation_batch = Moment()  # (inputs): before a batch of an evaluation is recorded
        self.evaluation_gave = Moment()  # (model, output, tensors beside the inputs): a forward of a recorded one ended
        self.evaluation_over = Moment()  # (Phase): a recorded one ended
        self.evaluation_begun = Moment()  # (model, root module): after the first batch of a recorded one
        # A training step, in the order of these.
        self.loss_computed = Moment()  # (result): a loss function gave a loss with a graph; sampled steps only
        self.loss_named = Moment()  # (function, thing): a loss function is called for the first time
        self.loss_examined = Moment()  # (LossCall): the same, where its numbers may be read
        self.loss_compared = Moment()  # the same, after it: in those of the steps that `Recorder.compares`
        self.evaluation_loss = Moment()  # (LossCall): a loss function was called without gradients
        self.loss_is_nonfinite = Moment()  # (): backward begins from such a loss
        self.probability_asked = Moment()  # (): of a chosen action, with a gradient
        self.backward_begins = Moment()  # (): sampled steps only
        self.unsampled_backward_begins = Moment()  # (): in the other steps
        self.backward_ended = Moment()  # ()
        self.sampled_backward_ended = Moment()  # (): after it, in sampled steps
        self.unscaled = Moment()  # (thing of the optimizer, scale): a loss scaler divided its gradients
        self.gradients_used = Moment()  # (optimizer, its Watched): step() is about to use the gradients
        self.sampled_gradients_used = Moment()  # the same, after it: sampled steps, and the first of an optimizer
        self.first_step_ends = Moment()  # (): before the end of step 0 is recorded
        self.step_ends = Moment()  # (thing of the optimizer): before it is recorded; sampled steps only
        self.step_held_back = Moment()  # (): a loss scaler left out a step
        self.stepped = Moment()  # (): a step was recorded and counted, sampled or not
        self.sampled_stepped = Moment()  # (): after it, where that step or the next one is sampled
        self.run_ends = Moment()  # (): the process ends, or the next run of it begins; before the last records
        # Files and other processes.
        self.saved = Moment()  # (path or None, content): torch.save or a library wrote a file
        self.collective_called = Moment()  # (operation, tensors given, ranks of the group)
        self.message_passed = Moment()  # (): send, recv or one of their kind was called
