// The run map: a line per episode over the game's own time, its thickness the health, a cross at each death.

const RUN_COLOURS = 6;
const MAP_HEIGHT = 340;
const MAP_EDGE = { left: 44, right: 16, top: 28, bottom: 34 };
const THICKNESS = [[0.34, 0.8], [0.67, 1.7], [Infinity, 3]]; // health up to this share, and the width of the line
const MOST_LABELS = 40;

class RunMap {
  constructor(app, traces) {
    this.app = app;
    this.traces = traces;
    this.env = this.choices[0];
    this.height = null;
    this.clocked = true;
    this.tip = h("p", { class: "tip", hidden: true });
    this.picture = h("div", { class: "picture" });
    this.controls = h("div", { class: "bar" });
    this.legend = h("p", { class: "soft legend" });
    this.element = h("div", { class: "runmap" }, this.controls, h("div", { class: "frame" }, this.picture, this.tip), this.legend);
    new ResizeObserver(() => this.draw()).observe(this.picture);
    this.picture.addEventListener("pointermove", (event) => this.hover(event));
    this.picture.addEventListener("pointerleave", () => this.unhover());
    this.picture.addEventListener("click", () => { if (this.near) this.app.go(this.near.key, this.near.step); });
  }

  get choices() {
    const sizes = counted(Object.values(this.traces.of).map((trace) => trace.env));
    return sizes.map(([env]) => env);
  }

  get axes() {
    return this.traces.axes[this.env];
  }

  get axis() {
    const { heights, first } = this.axes;
    return heights.find((each) => each.name === (this.height || first)) || heights[0];
  }

  grown(traces) {
    this.traces = traces;
    this.draw();
  }

  drawControls() {
    const select = (name, values, chosen, act) => values.length < 2 ? null : h("label", {}, `${name} `, h("select", { "aria-label": name, onchange: (event) => { act(event.target.value); this.draw(); } },
      values.map(([value, words]) => h("option", { value, selected: value === chosen }, words))));
    const { heights, clock } = this.axes;
    fill(this.controls,
      select("Environment", this.choices.map((env) => [env, visible(this.traces.axes[env].title)]), this.env, (value) => { this.env = value; this.height = null; }),
      select("Height", heights.map((each) => [each.name, each.title]), this.axis.name, (value) => { this.height = value; }),
      select("Time", clock === "step" ? [] : [["clock", clock], ["step", "step"]], this.clocked ? "clock" : "step", (value) => { this.clocked = value === "clock"; }));
  }

  // The episodes of the chosen environment as points: position, time, height, health.
  lines() {
    const runs = [...new Set(this.app.run.episodes.map((row) => row.run))];
    return Object.entries(this.traces.of).filter(([, trace]) => trace.env === this.env).map(([place, trace]) => {
      const row = this.app.run.episodes[place];
      const time = this.clocked && trace.clock ? trace.clock : trace.at;
      const values = trace.heights[this.axis.name] || [];
      return { place: Number(place), row, run: runs.indexOf(row.run), points: trace.at.map((at, each) => ({ at, time: Math.max(1, time[each]), value: values[each], health: trace.health[each] })) };
    }).filter((line) => line.points.length);
  }

  draw() {
    const width = this.picture.clientWidth;
    if (!width) return;
    this.drawControls();
    const lines = (this.shownLines = this.lines());
    if (!lines.length) return void fill(this.picture);
    const points = lines.flatMap((line) => line.points);
    const most = points.reduce((value, point) => Math.max(value, point.value), 0);
    const axis = this.axis;
    const low = axis.low || 0;
    const high = axis.name === "progression" && most > 50 ? 100 : Math.max(low + 1, most);
    const longest = points.reduce((value, point) => Math.max(value, point.time), 10);
    const { left, right, top, bottom } = MAP_EDGE;
    this.x = (time) => left + (Math.log10(time) / Math.log10(longest)) * (width - left - right);
    this.y = (value) => {
      const share = (value - low) / (high - low);
      return axis.down ? top + share * (MAP_HEIGHT - top - bottom) : MAP_HEIGHT - bottom - share * (MAP_HEIGHT - top - bottom);
    };
    const chart = drawn("svg", { class: "drawn", width, height: MAP_HEIGHT, role: "img", "aria-label": this.words(lines) });
    chart.append(...this.drawAxes(width, low, high, longest), ...lines.map((line) => this.drawLine(line)), ...this.drawEnds(lines));
    this.mark = drawn("g", { class: "near" });
    chart.append(this.mark);
    fill(this.picture, chart);
    const clock = this.clocked ? this.axes.clock : "step";
    fill(this.legend, `One line per episode: ${axis.title} over ${clock} (logarithmic scale). Thick: healthy, thin: few hit points. \u2715 death. Click to open the step; the list below has the same episodes.`);
  }

  words(lines) {
    const deaths = lines.filter((line) => isDeath(line.row)).length;
    return `${plural(lines.length, "episode")}, ${this.axis.title} over ${this.axes.clock}; ${plural(deaths, "death")}`;
  }

  drawAxes(width, low, high, longest) {
    const made = [];
    const text = (x, y, words, anchor) => drawn("text", { x, y, "text-anchor": anchor }, words);
    for (let power = 0; 10 ** power <= longest; power++) {
      const x = this.x(10 ** power);
      made.push(drawn("line", { class: "grid", x1: x, x2: x, y1: MAP_EDGE.top, y2: MAP_HEIGHT - MAP_EDGE.bottom }), text(x, MAP_HEIGHT - MAP_EDGE.bottom + 15, count(10 ** power), "middle"));
    }
    for (const value of ticks(low, high)) {
      const y = this.y(value);
      made.push(drawn("line", { class: "grid", x1: MAP_EDGE.left, x2: width - MAP_EDGE.right, y1: y, y2: y }), text(MAP_EDGE.left - 6, y + 4, short(value) + (this.axis.unit === "%" ? " %" : ""), "end"));
    }
    made.push(text(8, 14, this.axis.title, "start"), text(width - MAP_EDGE.right, MAP_HEIGHT - 4, this.clocked ? this.axes.clock : "step", "end"));
    return made;
  }

  // Lines at the same whole level are spread by a few pixels.
  shift(line) {
    return this.axis.unit === "%" ? 0 : ((line.place * 5) % 7 - 3) * 1.1;
  }

  drawLine(line) {
    const group = drawn("g", { class: `episode-line run${line.run % RUN_COLOURS}` });
    const shift = this.shift(line);
    let width = null;
    let path = "";
    const end = () => { if (path) group.append(drawn("path", { d: path, "stroke-width": width })); };
    line.points.forEach((point, each) => {
      const [x, y] = [this.x(point.time), this.y(point.value) + shift].map((value) => Math.round(value * 10) / 10);
      const next = THICKNESS.find(([most]) => point.health / 100 < most)[1];
      if (next !== width) {
        const before = line.points[each - 1];
        end();
        width = next;
        path = before ? `M${this.x(before.time).toFixed(1)} ${(this.y(before.value) + shift).toFixed(1)}H${x}V${y}` : `M${x} ${y}`;
      } else path += `H${x}V${y}`;
    });
    end();
    return group;
  }

  drawEnds(lines) {
    const made = [];
    const taken = [];
    for (const line of lines.filter(({ row }) => isDeath(row))) {
      const point = line.points[line.points.length - 1];
      const [x, y] = [this.x(point.time), this.y(point.value) + this.shift(line)];
      made.push(drawn("path", { class: "death", d: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8` }));
      const words = line.row.cause && line.row.cause !== "other" ? line.row.cause : line.row.how || line.row.cause || "";
      const box = { x: x - 10, y, width: words.length * 5.6 };
      const free = taken.length < MOST_LABELS && box.x - box.width > MAP_EDGE.left && !taken.some((other) => Math.abs(other.y - y) < 11 && box.x - box.width < other.x && other.x - other.width < box.x);
      if (free && words) {
        taken.push(box);
        made.push(drawn("text", { class: "cause-name", x: x - 8, y: y + 3.5, "text-anchor": "end" }, words.replace(/^killed by (an? )?/, "").slice(0, 40)));
      }
    }
    return made;
  }

  hover(event) {
    const box = this.picture.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best = 900; // 30 pixels, squared
    let near = null;
    for (const line of this.shownLines || []) {
      for (const point of line.points) {
        const [dx, dy] = [this.x(point.time) - x, this.y(point.value) + this.shift(line) - y];
        if (dx * dx + dy * dy < best) { best = dx * dx + dy * dy; near = { line, point }; }
      }
    }
    if (!near) return this.unhover();
    const { line, point } = near;
    this.near = { key: line.row.key, step: point.at };
    this.picture.classList.add("found");
    const end = point === line.points[line.points.length - 1] && line.row.how ? line.row.how : "";
    const clock = this.clocked ? `${this.axes.clock} ${count(point.time)}, ` : "";
    fill(this.tip, [visible(line.row.key), `${clock}step ${count(point.at)}: ${this.axis.title} ${short(point.value)}, health ${Math.round(point.health)} %`, visible(end)].filter(Boolean).map((words) => h("span", {}, words)));
    this.tip.hidden = false;
    this.tip.style.left = `${Math.min(x + 12, Math.max(0, box.width - 300))}px`;
    const again = this.drawLine(line);
    again.classList.add("strong");
    this.mark.replaceChildren(again, drawn("circle", { cx: this.x(point.time), cy: this.y(point.value) + this.shift(line), r: 4 }));
    return null;
  }

  unhover() {
    this.near = null;
    this.tip.hidden = true;
    this.picture.classList.remove("found");
    if (this.mark) this.mark.replaceChildren();
  }
}

function isDeath(row) {
  return row.outcome === "died";
}

// At most six round values between two numbers.
function ticks(low, high) {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const by = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const made = [];
  for (let value = Math.ceil(low / by) * by; value <= high + by / 1000; value += by) made.push(Math.round(value * 1000) / 1000);
  return low > 0 && !made.includes(low) ? [low, ...made] : made;
}
