// The map of each level: squares visited as a heat map with the path, doors and corridors never walked on.

const CELL = [8, 13]; // width and height of a square in pixels
const SMALL = [2, 3];
const PATH = 150; // steps of the path that are drawn

class LevelMap {
  constructor(episode, seek) {
    this.episode = episode;
    this.seek = seek;
    this.chosen = null; // a level chosen by hand, until the player changes the level
    this.screens = new Map();
  }

  // Every level by name: its steps, and how often each square was visited.
  get levels() {
    const { squares } = this.episode.head;
    if (this.madeOf === squares) return this.made;
    this.madeOf = squares;
    this.made = new Map();
    squares.of.forEach((square, at) => {
      const name = this.levelAt(at);
      if (!this.made.has(name)) this.made.set(name, { name, steps: [], visits: new Map() });
      const level = this.made.get(name);
      level.steps.push(at);
      if (square >= 0) level.visits.set(square, (level.visits.get(square) || 0) + 1);
    });
    return this.made;
  }

  levelAt(at) {
    const { levels } = this.episode.head.squares;
    if (!levels.length) return "";
    return levels[Math.max(0, indexBelow(levels.map(([first]) => first), at))][1];
  }

  async draw(box, at) {
    const here = this.levelAt(at);
    if (this.here !== here) this.chosen = null;
    this.here = here;
    const level = this.levels.get(this.chosen ?? here);
    const rows = await this.rows(level, this.chosen === null ? at : level.steps[level.steps.length - 1]);
    const large = this.paint(level, rows, CELL, this.chosen === null ? at : null);
    const free = this.chosen === null ? level.steps.filter((step) => step <= at).length : level.steps.length;
    const strip = await Promise.all([...this.levels.values()].map(async (each) => h("button", { type: "button", "aria-pressed": each === level, title: `level ${each.name || "?"}`, onclick: () => { this.chosen = each.name; this.draw(box, at); } },
      this.paint(each, await this.rows(each, each.steps[each.steps.length - 1]), SMALL, null), h("span", {}, `${each.name ? `level ${visible(each.name)}` : "map"}: ${plural(each.steps.length, "step")}`))));
    fill(box, h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Map of the level" }, large),
      h("p", { class: "soft" }, `Level ${visible(level.name || "?")}: ${plural(level.visits.size, "square")} visited in ${plural(free, "step")}. Brighter: more often. The line is the path of the last ${PATH} steps; framed: doors and corridors never walked on.`),
      this.levels.size > 1 ? h("div", { class: "minimaps" }, strip) : null);
    return null;
  }

  async rows(level, at) {
    const last = level.steps.filter((step) => step <= at).pop() ?? level.steps[0];
    return (await this.episode.moment(last)).screen;
  }

  paint(level, screen, [width, height], at) {
    const { row: by } = this.episode.head.squares;
    const rows = screen.rows.slice(0, 22);
    const canvas = h("canvas", { width: 80 * width * 2, height: 22 * height * 2, class: "levelmap", role: "img", "aria-label": `squares visited on level ${level.name || "?"}` });
    canvas.style.width = `${80 * width}px`;
    const paint = canvas.getContext("2d");
    paint.scale(2, 2);
    paint.fillStyle = "#101214";
    paint.fillRect(0, 0, 80 * width, 22 * height);
    const most = Math.max(1, ...level.visits.values());
    for (const [square, times] of level.visits) {
      paint.fillStyle = `rgba(230, 159, 0, ${0.25 + 0.65 * (Math.log(times + 1) / Math.log(most + 1))})`;
      paint.fillRect((square % by) * width, Math.floor(square / by) * height, width, height);
    }
    this.paintRows(paint, rows, level, [width, height], by);
    if (at !== null) this.paintPath(paint, level, at, [width, height], by);
    return canvas;
  }

  paintRows(paint, rows, level, [width, height], by) {
    paint.font = `${Math.round(height * 0.8)}px monospace`;
    paint.textBaseline = "middle";
    rows.forEach((text, row) => {
      if (!row) return; // the message line
      for (let column = 0; column < Math.min(80, text.length); column++) {
        const sign = text[column];
        if (sign === " ") continue;
        const walked = level.visits.has(row * by + column);
        paint.fillStyle = walked ? "#101214" : "#8d98a3";
        if (height > 6) paint.fillText(sign, column * width, row * height + height / 2);
        else if (!walked) paint.fillRect(column * width, row * height, width - 1, height - 1);
        if (height > 6 && !walked && (sign === "+" || sign === "#")) {
          paint.strokeStyle = "#56B4E9";
          paint.strokeRect(column * width + 0.5, row * height + 0.5, width - 1, height - 1);
        }
      }
    });
  }

  paintPath(paint, level, at, [width, height], by) {
    const { of } = this.episode.head.squares;
    const steps = level.steps.filter((step) => step <= at && step > at - PATH && of[step] >= 0);
    const center = (square) => [(square % by) * width + width / 2, Math.floor(square / by) * height + height / 2];
    paint.strokeStyle = "#66b3ec";
    paint.lineWidth = 1.5;
    paint.beginPath();
    steps.forEach((step, place) => (place ? paint.lineTo(...center(of[step])) : paint.moveTo(...center(of[step]))));
    paint.stroke();
    if (!steps.length) return;
    paint.beginPath();
    paint.arc(...center(of[steps[steps.length - 1]]), 4, 0, 7);
    paint.fillStyle = "#ffffff";
    paint.fill();
  }
}
