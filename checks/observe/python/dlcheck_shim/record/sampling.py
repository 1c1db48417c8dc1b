"""Which steps and evaluations are recorded in full: the same functions as checks/records/sampling.h."""

ALWAYS = 64  # steps below it are all sampled
ALWAYS_EVALUATIONS = 8
DETAILED, ONE_DETAILED_IN = 8, 8
BLOCKS, BLOCK = 8, 4  # blocks of a doubling, and consecutive steps of a block


def is_sampled(step):
    if step < ALWAYS:
        return True
    start = 1 << (step.bit_length() - 1)
    return (step - start) % (start // BLOCKS) < BLOCK


def is_detailed(step):
    """Of sampled steps: those in which also what is slow to measure, and changes slowly, is."""
    return step < DETAILED or step % ONE_DETAILED_IN == 0


def is_sampled_evaluation(number):
    return number <= ALWAYS_EVALUATIONS or number & (number - 1) == 0


def takes_digest(step):
    return step & (step - 1) == 0
