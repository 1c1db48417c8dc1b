"""Held: every step sees the same batches, under the same weights and the same random numbers, so that
steps can be compared with each other. Then the batches are arranged in other ways: what must not
matter must not change the gradient of a step.

The whole step of the program is tried so, from what a loader hands out to the gradients that its
optimizer is given. What cannot be judged is said in an attribute of the process, `untried/<name>`.
"""
