"""The first step of a program in several processes, and the same in one that is given what all of them
were given: both must come to the same gradient."""
