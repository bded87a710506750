// Compare episodes side by side, synchronized by step or by game time; the first one controls the others.

const CURVE_WIDTH = 300;

class ComparePage {
  constructor(episodes, app) {
    this.episodes = episodes;
    this.app = app;
    this.at = 0;
    this.lock = "step";
    this.shows = "step"; // or the difference of the prompts, or the inventories
    this.difference = firstDifference(episodes);
    this.columns = episodes.map((episode, place) => this.column(episode, place));
    this.range = h("input", { type: "range", min: 0, max: this.last, "aria-label": "Position", oninput: () => this.seek(Number(this.range.value)) });
    this.number = h("input", { type: "number", min: 0, "aria-label": "Step", onchange: () => this.seek(Number(this.number.value)) });
    const clocks = episodes.every((episode) => episode.head.clock);
    this.locks = h("select", { "aria-label": "Synchronized by", onchange: () => { this.lock = this.locks.value; this.seek(this.at); } },
      h("option", { value: "step" }, "synchronized by step"), clocks ? h("option", { value: "turn" }, "synchronized by game time") : null);
    const told = this.difference === null ? this.nothingDiffers() : `First difference: step ${this.difference}`;
    this.element = h("div", { class: "compare" }, h("h1", { class: "title" }, "Side by side"),
      h("div", { class: "controls" },
        h("button", { type: "button", "aria-label": "Step back", onclick: () => this.seek(this.at - 1) }, "\u2190"),
        h("button", { type: "button", "aria-label": "Step forward", onclick: () => this.seek(this.at + 1) }, "\u2192"),
        this.range, h("label", { class: "count" }, this.number, h("span", { class: "soft" }, ` of ${count(this.last)}`)), this.locks,
        this.difference === null ? h("span", { class: "soft" }, told) : h("button", { type: "button", title: "d", onclick: () => this.seek(this.difference) }, told),
        h("button", { type: "button", title: "Next difference (x)", onclick: () => this.nextDifference() }, "Next difference")),
      this.curves(), this.scores(),
      h("div", { class: "choices" }, [["step", "Step"], ["prompt", "Prompt difference"], ["inventory", "Inventories"]].map(([name, words]) => h("button", { type: "button", "data-shows": name, "aria-pressed": name === this.shows, onclick: () => this.choose(name) }, words))),
      h("div", { class: "columns" }, this.columns.map((column) => column.element)));
  }

  choose(name) {
    this.shows = name;
    for (const button of this.element.querySelectorAll("[data-shows]")) button.setAttribute("aria-pressed", button.dataset.shows === name);
    return this.seek(this.at);
  }

  // Every curve that all episodes have, on one axis each.
  curves() {
    const named = (episode, name) => episode.head.curves.find((curve) => curve.name === name) || { values: [(episode.head.constant || {})[name] ?? 0] };
    const names = [...new Map(this.episodes.flatMap((episode) => episode.head.curves.map((curve) => [curve.name, curve]))).values()];
    const drawn_ = names.map((curve) => {
      const lines = this.episodes.map((episode, place) => thinned(named(episode, curve.name).values, episode.last, place));
      const highest = Math.max(...lines.flatMap(({ values }) => values));
      const [low, high] = curve.range && curve.name === "health" ? curve.range : curve.down ? [1, Math.max(2, highest)] : [0, highest || 1];
      return h("figure", { class: "both" }, h("figcaption", {}, `${curve.title}: ${short(low)} to ${short(high)} ${curve.unit}`), smallChart(lines, { down: curve.down, low, high, at: this.difference, words: `${curve.title} of ${this.episodes.length} episodes over steps`, now: true, width: CURVE_WIDTH, height: 64 }));
    });
    const key = this.episodes.map((episode, place) => h("li", {}, runSwatch(place), h("span", { dir: "auto" }, visible(episode.key)), place ? " (dashed)" : ""));
    return h("section", { "aria-label": "Curves" }, h("ul", { class: "chips" }, key), h("div", { class: "curves" }, drawn_));
  }

  // The results of the episodes, and the differences from the first one.
  scores() {
    const rows = this.episodes.map((episode) => episode.row);
    const figures = ["progression", "steps", "invalid", "searches", "tokens", "dollars"].map((name) => [name, rows.map((row) => row[name])]);
    const measures = [...new Set(rows.flatMap((row) => (row.measures || []).map(([title]) => title)))].map((title) => [title, rows.map((row) => ((row.measures || []).find((measure) => measure[0] === title) || [])[1])]);
    const known = [...figures, ...measures].filter(([, values]) => values.some((value) => typeof value === "number" && value));
    const cell = (value, first, place) => h("td", {}, typeof value !== "number" ? "" : short(value), place && typeof value === "number" && typeof first === "number" ? h("span", { class: "soft" }, ` ${signed(value - first)}`) : "");
    return h("details", { class: "paired" }, h("summary", {}, "Scores"), h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Scores" }, h("table", { class: "figures" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, ""), this.episodes.map((episode) => h("th", { scope: "col", dir: "auto" }, visible(episode.key))))),
      h("tbody", {}, known.map(([name, values]) => h("tr", {}, h("th", { scope: "row" }, visible(name)), values.map((value, place) => cell(value, values[0], place))))))));
  }

  // The next position at which an episode takes another action than the first one.
  nextDifference() {
    const [lead, ...others] = this.episodes;
    for (let at = this.at + 1; at <= this.last; at++)
      if (others.some((other) => lead.action(this.placeOf(lead, at)) !== other.action(this.placeOf(other, at)))) return this.seek(at);
    return say("No difference after this step");
  }

  // The last prompt for the action at a column's position, compared with that of the first column.
  async drawPrompts(column, moment) {
    const lead = this.episodes[0];
    const mine = await actionPrompt(column.episode, moment);
    if (column.episode === lead) return fill(column.panel, mine ? mine.map((message) => h("article", { class: "message" }, h("header", {}, h("span", { class: "role" }, message.role)), textBlock(message.text))) : h("p", { class: "soft" }, "No model was asked at this step."));
    const theirs = await actionPrompt(lead, await lead.moment(this.placeOf(lead, this.at)));
    if (!mine || !theirs) return fill(column.panel, h("p", { class: "soft" }, "No model was asked at this step in both episodes."));
    const text = (messages) => messages.map(({ role, text: words }) => `[${role}]\n${words}`).join("\n");
    const lines = foldedLines(lineDifference(text(theirs), text(mine)));
    return fill(column.panel, h("p", { class: "soft" }, "Compared with the prompt of the first column: + only here, \u2212 only there."), h("pre", { class: "text lines", dir: "auto", tabindex: "0" }, lines.map(([sign, line]) => h("span", { class: { "+": "added", "-": "gone", " ": "kept" }[sign] || "soft" }, `${sign} ${visible(line.slice(0, LONGEST))}\n`))));
  }

  async drawInventory(column, moment) {
    const mine = await inventoryText(column.episode, moment);
    const lead = this.episodes[0];
    if (mine === null) return fill(column.panel, h("p", { class: "soft" }, "This game shows no inventory."));
    if (column.episode === lead) return fill(column.panel, textBlock(mine));
    const theirs = (await inventoryText(lead, await lead.moment(this.placeOf(lead, this.at)))) || "";
    return fill(column.panel, h("pre", { class: "text lines", dir: "auto", tabindex: "0" }, lineDifference(theirs, mine).map(([sign, line]) => h("span", { class: { "+": "added", "-": "gone", " ": "kept" }[sign] }, `${sign} ${visible(line)}\n`))));
  }

  // The comparison ends at the last step of an episode that has not ended or could not be replayed further.
  nothingDiffers() {
    const cut = this.episodes.filter((episode) => episode.cutOff);
    if (!cut.length) return "No action differs.";
    return `No action differs up to the last step known for all. ${cut.map((episode) => `${visible(episode.key)} ${visible(episode.cutOff)}`).join("; ")}.`;
  }

  get last() {
    return Math.max(...this.episodes.map((episode) => episode.last));
  }

  column(episode, place) {
    const column = { episode, state: { at: 0, retrieval: this.app.askedAt(episode.key), openPrompt: () => this.leaveFor(column, "prompt") } };
    column.screen = h("div", { class: "screen", tabindex: "0", role: "region", "aria-label": `screen of episode ${place + 1}` });
    column.line = h("p", { class: "line" });
    column.panel = h("div", { class: "panel" });
    const facts = [episode.row.agent, episode.row.model, episode.row.outcome && outcomeWords(episode.row.outcome), typeof episode.row.progression === "number" ? `${episode.row.progression.toFixed(2)} %` : ""].filter(Boolean).join(" \u00b7 ");
    column.element = h("section", { class: "column", "aria-label": `episode ${place + 1}` },
      h("h2", {}, runSwatch(place), h("a", { href: "#" + this.app.hash({ episode: episode.key }), dir: "auto" }, breakable(episode.key))), h("p", { class: "soft", dir: "auto" }, facts),
      column.screen, column.line, column.panel);
    return column;
  }

  leaveFor(column, tab) {
    location.hash = "#" + this.app.hash({ episode: column.episode.key, step: column.state.at, tab });
  }

  // The position of another episode when the first one is at a given position.
  placeOf(episode, at) {
    const lead = this.episodes[0];
    if (this.lock === "step" || episode === lead) return Math.min(at, episode.last);
    const now = lead.head.clock[Math.min(at, lead.last)];
    return Math.max(0, indexBelow(episode.head.clock, now));
  }

  async seek(wanted) {
    const at = Math.max(0, Math.min(this.last, Math.round(wanted) || 0));
    this.at = at;
    this.range.value = this.number.value = at;
    this.locks.value = this.lock;
    const now = chartPlace(at, this.last, CURVE_WIDTH);
    for (const line of this.element.querySelectorAll(".small .now")) for (const end of ["x1", "x2"]) line.setAttribute(end, now);
    this.app.rememberCompared(this);
    await Promise.all(this.columns.map((column) => this.show(column, at)));
  }

  async show(column, at) {
    const place = this.placeOf(column.episode, at);
    column.state.at = place;
    const moment = await column.episode.moment(place);
    if (this.at !== at) return;
    const lead = this.episodes[0];
    const differs = column.episode !== lead && lead.action(this.placeOf(lead, at)) !== column.episode.action(place);
    column.element.classList.toggle("differs", differs);
    drawScreen(column.screen, moment, column.episode);
    column.line.textContent = visible(moment.line);
    if (this.shows === "prompt") return this.drawPrompts(column, moment);
    if (this.shows === "inventory") return this.drawInventory(column, moment);
    return drawStep(column.panel, column.episode, moment, column.state);
  }

  key(event) {
    const by = event.shiftKey ? 10 : 1;
    const acts = { ArrowRight: () => this.seek(this.at + by), ArrowLeft: () => this.seek(this.at - by), Home: () => this.seek(0), End: () => this.seek(this.last),
      x: () => this.nextDifference(), d: () => { if (this.difference !== null) this.seek(this.difference); }, c: () => copy(location.href, "Link") };
    if (!acts[event.key]) return false;
    acts[event.key]();
    return true;
  }

  grown() {}

  leave() {}
}

// The first step at which any episode takes a different action than the first episode; null if there is none.
// A shorter episode that has ended differs at its end.
function firstDifference(episodes) {
  const [lead, ...others] = episodes;
  const found = others.map((other) => {
    const most = Math.min(...[lead, other].map((episode) => (episode.cutOff ? episode.last : Infinity)));
    for (let step = 0; step < Math.min(most, Math.max(lead.last, other.last)); step++) if (lead.action(step) !== other.action(step)) return step;
    return Infinity;
  });
  const first = Math.min(...found);
  return first === Infinity ? null : first;
}

const THINNED = 300; // points per curve

// A curve as points, its lowest value in each stretch.
function thinned(values, last, colour) {
  const by = Math.max(1, Math.ceil(values.length / THINNED));
  const at = [];
  const kept = [];
  for (let from = 0; from < values.length; from += by) {
    at.push(from);
    kept.push(values.slice(from, from + by).reduce((least, value) => Math.min(least, value)));
  }
  at.push(last);
  kept.push(values[values.length - 1]);
  return { at, values: kept, colour: colour % RUN_COLOURS };
}

async function actionPrompt(episode, moment) {
  const call = moment.said.filter((said) => said.ask && said.for === "act").pop() || moment.said.filter((said) => said.ask).pop();
  return call ? episode.prompt(call) : null;
}

async function inventoryText(episode, moment) {
  return moment.carried < 0 ? null : episode.entry("inventories", moment.carried);
}

const CONTEXT = 3; // equal lines around a difference

// Long stretches of equal lines are left out.
function foldedLines(lines) {
  const near = lines.map((_, at) => lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(([sign]) => sign !== " "));
  const made = [];
  let left = 0;
  lines.forEach((line, at) => {
    if (near[at]) {
      if (left) made.push(["\u2026", plural(left, "equal line")]);
      left = 0;
      made.push(line);
    } else left++;
  });
  if (left) made.push(["\u2026", plural(left, "equal line")]);
  return made;
}
