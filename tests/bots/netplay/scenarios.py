"""The scenarios as games of the host, and players that solve them with skills."""

from collections.abc import Callable

from balrog_rag.bots.nethack.netplay.scenarios.game import ScenarioGame
from balrog_rag.bots.nethack.netplay.scenarios.judges import lying
from balrog_rag.bots.nethack.netplay.scenarios.tasks import SCENARIOS
from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.option_schema import resolved_options
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.tracker import Tracker
from tests.bots.netplay.made import Played

SEEDS = (779726, 474862, 151437, 10518, 380261)


class Scene(Played):
    """A scenario in play; records the actions."""

    def __init__(self, task: str, seed: int, **options: object) -> None:
        kind = kind_of("netplay")
        chosen = resolved_options(kind, {"no_progress_calls": 0, **options}, [kind])
        super().__init__(GameSpec("netplay", task, Seeds(seed, seed), kind.max_steps(task), chosen))
        self.made = SCENARIOS[task].made
        self.done: list[str] = []

    def do(self, action: str) -> str:
        if self.last.ended:
            return self.last.ended
        self.done.append(action)
        return super().do(action)

    def all(self, *actions: str) -> None:
        for action in actions:
            self.do(action)

    @property
    def tracker(self) -> Tracker:
        game = self.game._environment.inner
        assert isinstance(game, ScenarioGame)
        assert game._judge is not None
        return game._judge.tracker

    @property
    def solved(self) -> bool:
        return bool(self.number("solved"))

    def finish(self) -> str:
        self.do("finish_task")
        return self.last.ended

    def letter(self, *words: str) -> str:
        items = self.tracker.player.world.items
        return next(item.letter for word in words for item in reversed(items) if word in item.text)

    def carries(self, word: str) -> bool:
        return any(word in item.text for item in self.tracker.player.world.items)

    def go(self, place: int, verb: str = "move_to", tries: int = 6) -> None:
        """Go to a square, whatever comes into view on the way."""
        x, y = t.xy(place)
        for _ in range(tries):
            told = self.do(f"{verb} {x} {y}")
            if not told.startswith("interrupted"):
                return

    def goto(self, column: int, row: int) -> None:
        self.go(self.made.square(column, row))

    def take(self, place: int) -> None:
        """Pick up everything on a square."""
        self.go(place)
        self.do("pickup")
        self.close_menu()

    def close_menu(self) -> None:
        """Select everything in a menu, page by page."""
        for _ in range(4):
            if "menu" not in self.part("popup"):
                return
            self.all("press_key ,", "press_key ENTER")
        if self.part("popup"):
            self.do("press_key y")

    def things(self) -> list[int]:
        here = self.tracker.player.here
        return sorted(lying(self.tracker), key=lambda place: (t.distance(place, here), place))


def symbol(scene: Scene, place: int) -> str:
    return lying(scene.tracker).get(place, "")


def bag(scene: Scene) -> None:
    while scene.things():
        scene.take(scene.things()[0])
    scene.do(f"apply {scene.letter('bag')}")
    scene.do("press_key i" if "menu" in scene.part("popup") else "press_key ESC")
    for _ in range(3):
        if "menu" in scene.part("popup"):
            scene.all("press_key A", "press_key ENTER")


def multipickup(scene: Scene) -> None:
    for _ in range(5):
        if scene.things():
            scene.take(scene.things()[0])
    scene.do("rest 1")


def wand(scene: Scene) -> None:
    scene.take(scene.things()[0])
    scene.goto(5, 3)
    scene.do(f"zap {scene.letter('wand')} e")


def ordered(scene: Scene) -> None:
    for kind in "//?":
        scene.take(next(place for place in scene.things() if symbol(scene, place) == kind))
    scene.do(f"read {scene.letter('Scroll of identify')}")
    for _ in range(4):
        scene.close_menu()


def unordered(scene: Scene) -> None:
    for _ in range(9):
        if "grid bug" in scene.part("close monsters"):
            x, y = scene.at("- grid bug")
            scene.do(f"melee_attack {x} {y}")
    scene.goto(2, 3)
    scene.all("drink", "press_key y")
    for _ in range(3):
        if scene.part("popup"):
            scene.do("press_key ESC")
    south = scene.made.square(6, 6)
    scene.go(south)
    scene.go(scene.made.square(6, 7))
    scene.go(scene.made.square(6, 2))
    x, y = t.xy(scene.made.square(6, 1))
    for _ in range(25):
        if scene.solved or scene.last.ended:
            return
        scene.do(f"kick {x} {y}")


def seek(scene: Scene, word: str) -> bool:
    """Explore until something is reachable, fighting on the way."""
    for _ in range(60):
        if scene.last.ended or scene.part("popup"):
            return False
        if any(word in line and "unreachable" not in line for line in scene.part("rooms").splitlines()):
            return True
        fight(scene)
        scene.do("explore_level")
    return False


def fight(scene: Scene) -> None:
    for _ in range(20):
        lines = [line for line in scene.part("close monsters").splitlines() if "tame" not in line]
        if not lines or scene.last.ended:
            return
        x, y = scene.at(lines[0].split(" at")[0])
        scene.do(f"melee_attack {x} {y}")


def alternative(scene: Scene) -> None:
    assert seek(scene, "potion at")
    x, y = scene.at("potion at")
    scene.take(t.spot(x, y))
    scene.do(f"drink {scene.letter('potion')}")


def carry(scene: Scene) -> None:
    x, y = scene.at("statue") if seek(scene, "statue") else (0, 0)
    statue = t.spot(x, y)
    for name in ("plate mail", "iron ball"):
        fight(scene)
        x, y = scene.at(name) if seek(scene, name) else (0, 0)
        scene.take(t.spot(x, y))
        if scene.part("popup"):
            scene.do("press_key y")
        for _ in range(12):
            if scene.tracker.player.here == statue or scene.last.ended:
                break
            fight(scene)
            scene.go(statue, tries=1)
        scene.do(f"drop {scene.letter(name)}")


def boulder(scene: Scene) -> None:
    """With the pick-axe from the left, or by teleportation from the right."""
    if scene.tracker.player.here in scene.made.squares(1):
        wand = min(scene.things(), key=lambda place: t.xy(place)[0])
        scene.take(wand)
        for _ in range(20):
            if not scene.solved:
                scene.do(f"zap {scene.letter('Wand of teleportation')} self")
        return
    scene.take(next(place for place in scene.things() if symbol(scene, place) == "("))
    assert seek(scene, "boulder at")
    scene.goto(10, 3)
    for _ in range(8):
        if "boulder" in scene.part("rooms"):
            scene.all(f"apply {scene.letter('pick-axe')}", "press_key j")
            scene.goto(10, 4)
    for _ in range(9):
        if not scene.solved:
            scene.do("explore_level")


def escape(scene: Scene) -> None:
    for place in scene.things():
        scene.take(place)
    scene.do(f"zap {scene.letter('Wand of teleportation')} self")
    for _ in range(6):
        if scene.solved:
            return
        scene.do(f"zap {scene.letter('Wand of teleportation')} self")


SOLVERS: dict[str, Callable[[Scene], None]] = {
    "bag": bag,
    "guided_bag": bag,
    "multipickup": multipickup,
    "wand": wand,
    "guided_wand": wand,
    "ordered": ordered,
    "unordered": unordered,
    "alternative": alternative,
    "conditional": alternative,
    "carry": carry,
    "guided_carry": carry,
    "boulder": boulder,
    "focused_boulder": boulder,
    "guided_boulder": boulder,
    "escape": escape,
    "hint_escape": escape,
}
