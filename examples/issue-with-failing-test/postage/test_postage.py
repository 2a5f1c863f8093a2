import unittest

from postage import price_in_cents


class Postage(unittest.TestCase):
    def test_light_parcel(self):
        self.assertEqual(price_in_cents(3), 500)

    def test_whole_kilograms(self):
        self.assertEqual(price_in_cents(7), 660)


if __name__ == "__main__":
    unittest.main()
