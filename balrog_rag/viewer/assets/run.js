// The page of a run: its episodes as a list to sort and filter, and the effects of retrieval.

const SHOWN_ROWS = 500;
const OF_MODELS = new Set(["invalid", "tokens", "dollars", "seconds"]); // empty if no model was called

function measureOf(row, title) {
  return (row.measures || []).find((measure) => measure[0] === title) || [];
}

class RunPage {
  constructor(app, wanted) {
    this.app = app;
    this.sort = null;
    this.down = true;
    this.kind = ""; // the kind of game that is listed; empty: all
    this.chosen = new Set();
    this.filter = h("input", { type: "search", placeholder: "Filter: words, or progression>5 & outcome:died", "aria-label": "Filter the list", oninput: () => { this.drawList(); this.remember(); } });
    this.kinds = h("select", { "aria-label": "Environment of the list", onchange: () => { this.kind = this.kinds.value; this.drawList(); this.remember(); } });
    this.list = h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Episodes" });
    this.compare = h("button", { type: "button", disabled: true, onclick: () => { location.hash = "#" + this.app.compared([...this.chosen]); } }, "Compare side by side");
    this.said = h("p", { class: "soft", role: "status" });
    this.heads = h("div", { class: "heads" });
    this.glance = h("div", { class: "glance" });
    this.below = h("div", {});
    this.element = h("div", { class: "run" }, h("h1", { class: "title", dir: "auto" }, visible(app.run.title)), this.said,
      this.ways = h("nav", { class: "ways", "aria-label": "On this page" }), this.heads, this.glance,
      this.part("Episodes", h("div", { class: "bar" }, this.filter, this.kinds, this.compare), this.list), this.below, this.retrieval());
    this.restore(wanted);
    this.grown();
    this.drawWays();
    this.look();
  }

  part(title, ...children) {
    return h("section", { class: "section", "data-title": title, tabindex: "-1" }, h("h2", {}, title), ...children);
  }

  // Buttons that lead to the parts of the page; the address holds the place in the run instead.
  drawWays() {
    const parts = [...this.element.querySelectorAll(".section")];
    fill(this.ways, parts.map((part) => h("button", { type: "button", class: "link", onclick: () => { part.scrollIntoView(); part.focus({ preventScroll: true }); } }, part.dataset.title)));
  }

  // The order and the filter of the list are kept in the address.
  restore(wanted) {
    this.sort = wanted.get("sort");
    this.down = wanted.get("up") === null;
    this.filter.value = wanted.get("filter") || "";
    this.kind = wanted.get("kind") || "";
  }

  remember() {
    const values = { filter: this.filter.value || null, kind: this.kind || null, sort: this.sort, up: this.sort && !this.down ? 1 : null };
    this.app.listed = this.app.hash(values);
    if (this.app.page === this) history.replaceState(null, "", "#" + this.app.listed);
  }

  // The map and what follows from all traces, as far as the server has read them.
  async look() {
    for (;;) {
      const traces = await readDocument("traces").catch(() => null);
      if (!traces || this.left) return;
      this.drawGlance(traces);
      if (!traces.left) return;
    }
  }

  drawGlance(traces) {
    const held = this.glance.contains(document.activeElement) || this.below.contains(document.activeElement);
    const reading = traces.left ? h("p", { class: "waiting", role: "status" }, `Reading ${plural(traces.left, "more episode")}.`) : null;
    if (this.map) this.map.grown(traces);
    else if (Object.keys(traces.of).length) this.map = new RunMap(this.app, traces);
    if (held) return; // a reader is here
    fill(this.glance, this.map ? this.part("Run map", this.map.element) : null, drawSame(traces.same), reading);
    const [partings, deaths] = [drawPartings(this.app, traces), drawDeaths(this.app, traces)];
    fill(this.below, partings ? this.part("Where arms part", partings) : null, deaths ? this.part("Deaths", deaths) : null);
    this.drawWays();
  }

  // Redraw the list; selection, input and focus are kept.
  grown() {
    fill(this.said, this.summary());
    fill(this.heads, drawHeads(this.app.run, this.app.notes));
    const held = this.list.contains(document.activeElement) ? document.activeElement.dataset.of : null;
    this.drawList();
    const again = held && [...this.list.querySelectorAll("[data-of]")].find((each) => each.dataset.of === held);
    if (again) again.focus();
    if (this.ended !== undefined && this.ended !== this.endedNow) this.look();
    this.ended = this.endedNow;
  }

  get endedNow() {
    return this.app.run.episodes.filter((row) => row.state === "ended").length;
  }

  summary() {
    const { episodes } = this.app.run;
    const ended = episodes.filter((row) => row.state === "ended").length;
    const open = episodes.filter((row) => row.state === "open").length;
    const damaged = episodes.length - ended - open;
    const said = [plural(episodes.length, "episode"), `${count(ended)} ended`, open ? `${count(open)} open` : "", damaged ? `${count(damaged)} damaged` : ""];
    return said.filter(Boolean).join(", ");
  }

  // The columns that these rows fill; what only some kinds of game count appears once such a kind is chosen.
  columns(rows) {
    const measures = [...new Set(rows.flatMap((row) => (row.measures || []).map(([title]) => title)))].slice(0, 5);
    const figure = (name) => (row) => (OF_MODELS.has(name) && name !== "seconds" && !row.model ? null : row[name]);
    const made = [
      ["episode", (row) => row.key, true], ...(this.app.run.episodes.every((row) => row.run && row.key.startsWith(`${row.run}:`)) ? [] : [["run", figure("run"), true]]),
      ["progression", figure("progression"), false, (value) => value.toFixed(2) + " %"],
      ["outcome", (row) => (row.state === "ended" ? outcomeWords(row.outcome) : row.doing || row.state), true, (value, row) => [value, row.how ? h("div", { class: "soft" }, row.how) : null]],
      ["player", (row) => [row.agent, row.model].filter(Boolean).join(" / "), true],
      ["steps", figure("steps")], ["invalid", figure("invalid")], ["tokens", figure("tokens"), false, short],
      ["dollars", figure("dollars"), false, (value, row) => dollars(value, row.unpriced)], ["seconds", figure("seconds"), false, (value) => value.toFixed(0)],
      ...measures.map((title) => [title, (row) => measureOf(row, title)[1], false, (value, row) => (measureOf(row, title)[2] === "points" ? value.toFixed(2) : count(value))]),
    ];
    const worth = ([name, value]) => {
      const said = new Set(rows.map(value).filter((each) => each != null && each !== "" && !(OF_MODELS.has(name) && each < (name === "seconds" ? 0.5 : 1e-9))));
      if (measures.includes(name) && 2 * rows.filter((row) => measureOf(row, name).length).length < rows.length) return false;
      return name === "episode" || said.size > (name === "run" || name === "player" ? 1 : 0);
    };
    return made.filter(worth);
  }

  kept() {
    const wanted = this.filter.value.trim() ? parseExpression(this.filter.value) : null;
    return this.app.run.episodes.filter((row) => (!this.kind || row.kind === this.kind) && (!wanted || rowMatches(wanted, row, this.app.notes.labels(row.key))));
  }

  sorted(kept, columns) {
    const column = columns.find(([name]) => name === this.sort);
    if (!column) return kept;
    const order = (a, b) => (a == null) - (b == null) || (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
    return kept.sort((a, b) => order(column[1](a), column[1](b)) * (this.down ? -1 : 1));
  }

  drawKinds() {
    const kinds = [...new Set(this.app.run.episodes.map((row) => row.kind).filter(Boolean))];
    this.kinds.hidden = kinds.length < 2;
    if (this.kinds.options.length === kinds.length + 1) return;
    fill(this.kinds, [["", "all environments"], ...kinds.map((kind) => [kind, kind])].map(([value, words]) => h("option", { value, selected: value === this.kind }, words)));
  }

  drawList() {
    this.drawKinds();
    const kept = this.kept();
    const columns = this.columns(kept);
    const rows = (this.app.order = this.sorted(kept, columns));
    const heads = columns.map(([name, , words]) => h("th", { scope: "col", class: words ? "words" : "", "aria-sort": this.sort === name ? (this.down ? "descending" : "ascending") : "none" },
      h("button", { type: "button", "data-of": `sort ${name}`, onclick: () => this.sortBy(name) }, name, this.sort === name ? (this.down ? " \u25be" : " \u25b4") : "")));
    const body = rows.slice(0, SHOWN_ROWS).map((row) => h("tr", {}, columns.map(([name, value, words, told]) => {
      const found = value(row);
      const empty = found === undefined || found === null || found === "";
      if (name === "episode") return h("th", { scope: "row", class: "words" }, this.chooser(row), this.link(row));
      return h("td", { class: words ? `words ${name}` : "", dir: words ? "auto" : null }, empty ? "" : told ? told(found, row) : words ? visible(found) : count(found));
    })));
    fill(this.list, h("table", { class: "list" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, body)),
      rows.length > SHOWN_ROWS ? h("p", { class: "soft" }, `The first ${SHOWN_ROWS} of ${count(rows.length)}; use the filter to see others.`) : null,
      rows.length ? null : h("p", { class: "soft" }, "No episode matches the filter."));
  }

  chooser(row) {
    if (this.app.single || row.state === "damaged") return null;
    return h("input", { type: "checkbox", "data-of": `box ${row.key}`, checked: this.chosen.has(row.key), "aria-label": `Compare ${row.key}`, onchange: (event) => {
      if (event.target.checked) this.chosen.add(row.key);
      else this.chosen.delete(row.key);
      this.compare.disabled = this.chosen.size < 2;
    } });
  }

  link(row) {
    if (row.state === "damaged") return h("span", { dir: "auto" }, visible(row.key));
    return h("a", { href: "#" + this.app.hash({ episode: row.key }), dir: "auto", "data-of": `way ${row.key}` }, breakable(row.key));
  }

  sortBy(name) {
    this.down = this.sort === name ? !this.down : true;
    this.sort = name;
    this.drawList();
    this.remember();
  }

  retrieval() {
    return this.app.run.retrieval.map((found) => {
      const changed = found.asked.filter((one) => one.without !== one.action);
      const rows = changed.map((one) => h("tr", {},
        h("th", { scope: "row", class: "words" }, h("a", { href: "#" + this.app.hash({ episode: one.key, step: one.step }), dir: "auto" }, visible(`${one.key} step ${one.step}`))),
        [one.action, one.without, one.again].map((action) => h("td", { class: "words", dir: "auto" }, visible(action))),
        h("td", { class: "words" }, one.passages.map(([title, url, score], place) => h("div", {}, place === 0 && one.passages.length > 1 ? h("strong", {}, address(url, title)) : address(url, title), h("span", { class: "soft" }, ` ${score.toFixed(3)}`))))));
      return this.part(`Where retrieval changed the action: ${visible(found.run)}`, h("p", {}, found.sentence),
        rows.length ? h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" }, h("table", { class: "list" }, h("thead", {}, h("tr", {}, ["step", "action", "without passages", "asked again", "passages of the last search, best first"].map((name) => h("th", { scope: "col", class: "words" }, name)))), h("tbody", {}, rows))) : null);
    });
  }

  key() {
    return false;
  }

  leave() {
    this.left = true;
  }
}
