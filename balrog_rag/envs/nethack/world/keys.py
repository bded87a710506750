"""Keys of NetHack's commands."""

ESC, ENTER = 27, 13
APPLY, EAT, ENGRAVE, FIGHT, FIRE, LOOK, FARLOOK = map(ord, "aeEFf:;")
PAY = ord("p")
MOVE_ONLY, PICK_UP, PUT_ON, QUAFF, QUIVER, READ, SEARCH, THROW = map(ord, "m,PqQrst")
TAKE_OFF, WEAR, WIELD, SWAP_WEAPONS, ZAP, CAST, AUTOPICKUP, DROP, OPEN = map(ord, "TWwxzZ@do")
UP, DOWN, DOT = map(ord, "<>.")
YES, NO = ord("y"), ord("n")
KICK, ATTRIBUTES = 4, 24
PRAY, FORCE, LOOT, ENHANCE = (ord(letter) | 0x80 for letter in "pfle")
