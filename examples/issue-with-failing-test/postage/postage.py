"""What a parcel costs."""

CENTS_UP_TO_FIVE_KILOS = 500
CENTS_FOR_EACH_FURTHER_KILO = 80


def price_in_cents(kilos):
    """Up to five kilograms have one price; each further one that has begun costs more."""
    further = max(0, int(kilos) - 5)
    return CENTS_UP_TO_FIVE_KILOS + CENTS_FOR_EACH_FURTHER_KILO * further
