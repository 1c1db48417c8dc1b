"""The replay: the program runs again up to the step in which the plain run met its first value that is
not finite, and there every operation is looked at, forward, backward and in the optimizer's step.

What is told is not the first such value of the step but the one from which those in the loss, the
gradients or the weights came: a mask of minus infinity that a softmax takes away is nobody's fault.
"""
