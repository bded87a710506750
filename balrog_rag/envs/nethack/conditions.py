"""The words of NetHack's bottom line for hunger, load and ailments, by its own numbers for them."""

HUNGER = ("Satiated", "", "Hungry", "Weak", "Fainting", "Fainted", "Starved")
LOADS = ("", "Burdened", "Stressed", "Strained", "Overtaxed", "Overloaded")
CONDITIONS = (
    *("Stone", "Slime", "Strngl", "FoodPois", "TermIll", "Blind", "Deaf", "Stun", "Conf", "Hallu"),
    *("Lev", "Fly", "Ride"),
)
"""By their bits."""
