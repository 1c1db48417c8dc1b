class Unjudged(Exception):
    """Says why an arrangement cannot be judged."""
