// Compare episodes side by side, synchronized by step or by game time; the first one controls the others.

class ComparePage {
  constructor(episodes, app) {
    this.episodes = episodes;
    this.app = app;
    this.at = 0;
    this.lock = "step";
    this.difference = firstDifference(episodes);
    this.columns = episodes.map((episode, place) => this.column(episode, place));
    this.range = h("input", { type: "range", min: 0, max: this.last, "aria-label": "Position", oninput: () => this.seek(Number(this.range.value)) });
    this.number = h("input", { type: "number", min: 0, "aria-label": "Step", onchange: () => this.seek(Number(this.number.value)) });
    const clocks = episodes.every((episode) => episode.head.clock);
    this.locks = h("select", { "aria-label": "Synchronized by", onchange: () => { this.lock = this.locks.value; this.seek(this.at); } },
      h("option", { value: "step" }, "synchronized by step"), clocks ? h("option", { value: "turn" }, "synchronized by game time") : null);
    const told = this.difference === null ? this.nothingDiffers() : `First difference: step ${this.difference}`;
    this.element = h("div", { class: "compare" },
      h("div", { class: "controls" },
        h("button", { type: "button", "aria-label": "Step back", onclick: () => this.seek(this.at - 1) }, "\u2190"),
        h("button", { type: "button", "aria-label": "Step forward", onclick: () => this.seek(this.at + 1) }, "\u2192"),
        this.range, h("label", { class: "count" }, this.number, h("span", { class: "soft" }, ` of ${count(this.last)}`)), this.locks,
        this.difference === null ? h("span", { class: "soft" }, told) : h("button", { type: "button", title: "d", onclick: () => this.seek(this.difference) }, told)),
      h("div", { class: "columns" }, this.columns.map((column) => column.element)));
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
    column.screen = h("div", { class: "screen" });
    column.line = h("p", { class: "line" });
    column.panel = h("div", { class: "panel" });
    const facts = [episode.row.agent, episode.row.model, episode.row.outcome].filter(Boolean).join(" \u00b7 ");
    column.element = h("section", { class: "column", "aria-label": `episode ${place + 1}` },
      h("h2", {}, h("a", { href: "#" + this.app.hash({ episode: episode.key }), dir: "auto" }, episode.key)), h("p", { class: "soft", dir: "auto" }, facts),
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
    await drawStep(column.panel, column.episode, moment, column.state);
  }

  key(event) {
    const by = event.shiftKey ? 10 : 1;
    const acts = { ArrowRight: () => this.seek(this.at + by), ArrowLeft: () => this.seek(this.at - by), Home: () => this.seek(0), End: () => this.seek(this.last),
      d: () => { if (this.difference !== null) this.seek(this.difference); }, c: () => copy(location.href, "Link") };
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
