"""Print the last events of an episode: answers, searches and steps.

python examples/how_it_died.py RUN [EPISODE]       default: the first episode that ended in a death
"""

import sys
from collections import deque

import balrog_rag
from balrog_rag.contracts.events import Answered, Ended, Searched, Stepped
from balrog_rag.util.terminal_safe import terminal_safe


def main(folder: str, episode: str = "") -> None:
    """Replay the episode and print its newest events."""
    run = balrog_rag.Run(folder)
    if not episode:
        deaths = run.episodes.query("ended_by != ''")
        if deaths.empty:
            sys.exit(f"{folder}: nobody died")
        episode = deaths["episode"].iloc[0]
    for event in deque(run.events(episode), maxlen=12):
        match event:
            case Answered():
                print("answer:", terminal_safe(event.reply.text))
            case Searched():
                print("search:", terminal_safe(event.query), [passage.title for passage in event.passages])
            case Stepped():
                print(
                    f"step {event.step}:",
                    terminal_safe(event.taken),
                    terminal_safe(event.after.observation.screen),
                    sep="\n",
                )
            case Ended():
                print("end:", terminal_safe(event.words))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(str(__doc__))
    main(*sys.argv[1:])
