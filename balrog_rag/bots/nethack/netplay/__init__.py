"""NetPlay's layer on NetHack (Jeurissen et al. 2024): skills with parameters and their tracker."""
