"""Computes the fine for a book that is returned late."""

CENTS_A_DAY = 20
DAYS_OF_GRACE = 14


def fine_in_cents(days_late):
    """The fine is due from the fifteenth day; there is an upper bound of ten euros."""
    return min(1000, CENTS_A_DAY * max(0, days_late - DAYS_OF_GRACE))


def reminder(name, days_late):
    """Returns the letter that the reader gets."""
    return f"Dear {name}, the fine is {fine_in_cents(days_late) / 100:.2f} euros."
