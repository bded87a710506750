"""NetPlay's sixteen scenarios: small levels with an instruction, judged by the state of the game alone."""
