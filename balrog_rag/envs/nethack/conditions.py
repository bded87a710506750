"""NetHack's words on the bottom line for hunger, load and ailments, by NetHack's numbers."""

HUNGER = ("Satiated", "", "Hungry", "Weak", "Fainting", "Fainted", "Starved")
LOADS = ("", "Burdened", "Stressed", "Strained", "Overtaxed", "Overloaded")
CONDITIONS = (
    *("Stone", "Slime", "Strngl", "FoodPois", "TermIll", "Blind", "Deaf", "Stun", "Conf", "Hallu"),
    *("Lev", "Fly", "Ride"),
)
"""Conditions by their bits."""
