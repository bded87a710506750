"""What a terminal shows of a run or an episode."""
