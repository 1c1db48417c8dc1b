"""Which steps are recorded in full: the same function as checks/records/sampling.h."""

ALWAYS = 64  # steps below it are all sampled
BLOCK = 8  # consecutive steps of a block, and blocks of a doubling


def is_sampled(step):
    if step < ALWAYS:
        return True
    start = 1 << (step.bit_length() - 1)
    return (step - start) % (start // BLOCK) < BLOCK


def takes_digest(step):
    return step & (step - 1) == 0
