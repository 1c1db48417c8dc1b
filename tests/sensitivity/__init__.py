"""Models with a fault whose strength can be set, for ci/mildest."""
