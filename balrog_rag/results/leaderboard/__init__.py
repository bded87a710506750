"""The leaderboard: own runs ranked with intervals, beside published results; submissions to BALROG."""
