"""The batch that a model was called with last, by weak references: nothing of it is kept alive."""

import collections
import weakref

from ..torch_api import private
from ..torch_api.on_host import on_host
from .tokens import is_sequence

MOST_ASKED = 4


class LastBatch:
    def __init__(self):
        self.parts, self.model, self.halves = [], 0, None
        self.table_rows = 0  # of the first tensor, where it has a row for each sample and no axis of time
        self.looked_up = set()  # in tables of words, in the last forward: where they lie
        # Weak references to what was looked up there last, whether an input or not.
        self.asked = collections.deque(maxlen=MOST_ASKED)

    def keep(self, batch, model, halves):
        """`batch`: tensors as `parts_of` gives them; `halves`: their fingerprint."""
        self.parts, self.model, self.halves = batch, model, halves
        first = batch[0][0]() if batch else None
        self.table_rows = first.shape[0] if first is not None and first.dim() == 2 and first.is_floating_point() else 0

    def forget_words(self):
        self.looked_up = set()
        self.asked.clear()

    def look_up(self, tokens):
        """A table of words is asked for them."""
        self.looked_up.add(tokens.data_ptr())
        self.asked.append(weakref.ref(tokens))

    def words_asked(self):
        """All sequences of words that were looked up in this forward and are still there."""
        alive = [reference() for reference in self.asked]
        return [tokens for tokens in alive if tokens is not None and is_sequence(tokens)]

    def is_again(self, batch, model):
        """Whether these tensors, unchanged, are those of the last batch, for the same model."""
        return self.model == model and len(self.parts) == len(batch) and all(
            reference() is part and version == version_of(part)
            for (reference, version), part in zip(self.parts, batch)
        )  # fmt: skip

    def has_samples(self, count):
        """Whether a tensor of the batch has so many samples."""
        alive = [reference() for reference, _ in self.parts]
        return any(part is not None and part.dim() > 0 and part.shape[0] == count for part in alive)

    def holds(self, tensor):
        """Whether it is a tensor of the batch."""
        return any(reference() is tensor for reference, _ in self.parts)

    def tokens(self):
        """The inputs that hold a token at each position; where some of them are seen to be words, only
        these: others may be targets, which a model may be given too."""
        return self.words() or self.sequences()

    def words(self):
        """The inputs that were looked up in a table, a token at each position."""
        return [on_host(part) for part in self.there() if part.data_ptr() in self.looked_up]

    def sequences(self):
        return [on_host(part) for part in self.there()]

    def there(self):
        alive = [reference() for reference, _ in self.parts]
        return [part for part in alive if part is not None and is_sequence(part)]


def parts_of(batch):
    """Of each tensor a weak reference, and how often it was written to."""
    return [(weakref.ref(part), version_of(part)) for part in batch]


def version_of(tensor):
    """Tensors of inference mode do not count."""
    return -1 if tensor.is_inference() else private.version_of(tensor)
