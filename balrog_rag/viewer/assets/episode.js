// The page of an episode: screen, controls and timeline, beside the model's input and output.

const SPEEDS = [1, 2, 4, 8, 16, 32, 64];
const TABS = [["step", "Step"], ["prompt", "Prompt"], ["costs", "Costs"], ["marks", "Marks"], ["notes", "Notes"], ["settings", "Settings"], ["map", "Map"]];

class EpisodePage {
  constructor(episode, app) {
    this.episode = episode;
    this.app = app;
    this.at = 0;
    this.speed = 4;
    this.playing = null;
    this.tab = "step";
    this.call = null;
    this.whole = false;
    this.shownKinds = new Set(Object.keys(MARKS).filter((kind) => !OFF_AT_FIRST.has(kind)));
    this.matched = []; // where the expression begins to hold
    this.matchedBy = "";
    this.retrieval = app.askedAt(episode.key);
    this.timeline = new Timeline(episode, (at) => this.seek(at));
    this.levelmap = new LevelMap(episode, (at) => this.seek(at));
    for (const [step, one] of this.retrieval) if (one.without !== one.action) this.timeline.changed.add(step);
    this.build();
  }

  build() {
    const button = (words, title, act, key) => h("button", { type: "button", title: `${title} (${key})`, "aria-label": title, onclick: act }, words);
    this.screen = h("div", { class: "screen", tabindex: "0", "aria-label": "Screen. Arrow keys move by steps, space plays." });
    this.line = h("p", { class: "line" });
    this.play = button("\u25b6", "Play", () => this.toggle(), "space");
    this.range = h("input", { type: "range", min: 0, "aria-label": "Position", oninput: () => this.seek(Number(this.range.value)) });
    this.number = h("input", { type: "number", min: 0, "aria-label": "Step", onchange: () => this.seek(Number(this.number.value)) });
    this.total = h("span", { class: "soft" });
    this.speedBox = h("select", { "aria-label": "Steps per second", onchange: () => this.setSpeed(Number(this.speedBox.value)) },
      SPEEDS.map((speed) => h("option", { value: speed, selected: speed === this.speed }, `${speed}/s`)));
    const controls = h("div", { class: "controls" },
      button("[", "Previous mark", () => this.jump(-1), "["),
      button("\u2190", "Step back", () => this.seek(this.at - 1), "left arrow"), this.play,
      button("\u2192", "Step forward", () => this.seek(this.at + 1), "right arrow"),
      button("]", "Next mark", () => this.jump(1), "]"),
      this.range, h("label", { class: "count" }, this.number, this.total),
      h("span", { class: "group" }, this.speedBox, this.tiles = h("button", { type: "button", hidden: true, "aria-pressed": inTiles, onclick: () => { inTiles = !inTiles; this.seek(this.at, true); } }, "Tiles"), button("Link", "Copy a link to this step", () => this.copyLink(), "c"),
        button("Markdown", "Copy this step as Markdown", () => this.copyMarkdown(), "m"), this.more()));
    this.tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "About this step", onkeydown: (event) => this.moveTab(event) }, TABS.map(([name, title], place) => h("button", {
      type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "panel", title: `${title} (${place + 1})`, onclick: () => this.open(name) }, title)));
    this.panel = h("div", { class: "panel", id: "panel", role: "tabpanel", tabindex: "0" });
    this.live = h("p", { class: "live", hidden: true });
    this.element = h("div", { class: "episode" },
      h("div", { class: "watch" }, this.beside(), this.live, this.screen, this.line, controls, this.timeline.element, this.pace),
      h("div", { class: "read" }, this.tabs, this.panel));
  }

  // The episodes before and after this one in the list.
  beside() {
    this.pace = h("p", { class: "soft pace" });
    if (this.app.single) return null;
    const rows = this.app.ordered();
    const at = rows.findIndex((row) => row.key === this.episode.key);
    const way = (row, words, key) => row ? h("a", { href: "#" + this.app.hash({ episode: row.key }), title: `${words} (${key})`, dir: "auto" }, `${words}: `, visible(row.key)) : null;
    return h("nav", { class: "beside", "aria-label": "Other episodes" }, way(rows[at - 1], "previous", "<"), way(rows[at + 1], "next", ">"));
  }

  goBeside(by) {
    const rows = this.app.ordered();
    const row = rows[rows.findIndex((each) => each.key === this.episode.key) + by];
    if (row) this.app.go(row.key);
    else say(`No ${by > 0 ? "next" : "previous"} episode`);
  }

  // What is copied or downloaded besides links and Markdown.
  more() {
    const name = this.episode.key.replace(/[^\w.-]+/g, "_");
    const call = () => this.moment.said.filter((said) => said.ask)[this.call || 0] || this.moment.said.find((said) => said.ask);
    const request = async (made, what) => (call() ? copy(await made(this.episode, this.at, call()), what) : say("No model was asked at this step"));
    const acts = {
      curl: ["Call as curl", () => request(callAsCurl, "Call as curl")],
      python: ["Call as Python", () => request(callAsPython, "Call as Python")],
      fork: ["Command: fork here", () => copy(forkCommand(this.episode, this.at), "Command")],
      json: ["Download JSON", async () => save(`${name}.json`, [JSON.stringify(await episodeAsJson(this.episode), null, 1)], "application/json")],
      atif: ["Download ATIF", async () => save(`${name}.atif.json`, [JSON.stringify(await episodeAsAtif(this.episode))], "application/json")],
    };
    const box = h("select", { class: "more-acts", "aria-label": "Copy or download", onchange: () => { const act = acts[box.value]; box.value = ""; if (act) act[1](); } },
      h("option", { value: "" }, "More \u2026"), Object.entries(acts).map(([value, [words]]) => h("option", { value }, words)));
    return box;
  }

  // The status line, with what is new in it.
  async drawLine(moment) {
    const before = moment.at ? (await this.episode.moment(moment.at - 1)).line.split(" ") : [];
    if (this.at !== moment.at) return;
    const words = moment.line.split(" ");
    const like = words.length === before.length;
    fill(this.line, words.map((word, place) => [place ? " " : "", like && word !== before[place] ? h("span", { class: "new", title: `before: ${visible(before[place])}` }, visible(word)) : visible(word)]));
  }

  drawPace() {
    const free = this.episode.free;
    const { spending, last, head } = this.episode;
    const turns = head.clock ? head.clock[head.clock.length - 1] : 0;
    const loops = (head.loops || []).reduce((sum, [first, end]) => sum + end - first + 1, 0);
    const facts = [free && free[1] ? `${Math.round((100 * free[0]) / free[1])} % of steps took no game time` : "", loops ? `${count(loops)} steps in loops (shaded)` : "", turns && spending.dollars[last] ? `${dollars(spending.dollars[last] / turns, spending.unknown)} per turn` : "", turns && spending.tokens[last] ? `${short(spending.tokens[last] / turns)} tokens per turn` : ""];
    this.pace.textContent = facts.filter(Boolean).join(" \u00b7 ");
  }

  // The visible marks, in order; the same array as long as they do not change.
  get marks() {
    const notes = this.app.notes.of(this.episode.key);
    const made = [this.episode.head.marks.length, this.episode.last, this.matched, [...this.shownKinds], notes.map((note) => [note.step, note.text, note.label])].join();
    if (made !== this.markedBy) this.marked = this.allMarks(notes);
    this.markedBy = made;
    return this.marked;
  }

  allMarks(noted) {
    const asked = [...this.retrieval.values()].filter((one) => one.without !== one.action)
      .map((one) => [one.step, "retrieval", `${one.action}; without passages ${one.without}`]);
    const notes = noted.map((note) => [Math.max(0, note.step), "reader", [note.label, note.text.split("\n")[0]].filter(Boolean).join(": ")]);
    const searches = this.episode.searches.map((step) => [step, "search", "a search"]);
    const matched = this.matched.map((step) => [step, "match", this.matchedBy]);
    this.everyMark = [...this.episode.head.marks, ...searches, ...asked, ...notes, ...matched].sort((a, b) => a[0] - b[0]);
    return this.everyMark.filter(([, kind]) => this.shownKinds.has(kind));
  }

  async seek(wanted, quiet) {
    const at = Math.max(0, Math.min(this.episode.last, Math.round(wanted) || 0));
    this.at = at;
    const moment = await this.episode.moment(at);
    if (this.at !== at) return;
    this.moment = moment;
    drawScreen(this.screen, moment, this.episode);
    this.tiles.hidden = !(moment.screen.colours.length && Number.isInteger(moment.screen.picture));
    this.tiles.setAttribute("aria-pressed", inTiles);
    this.drawLine(moment);
    this.measure();
    this.range.setAttribute("aria-valuetext", `step ${at}, ${moment.step ? moment.step.do : "the end"}`);
    this.call = null;
    if (!quiet) this.app.remember(this);
    await this.redraw();
  }

  // Show the current position in an episode that may have grown.
  measure() {
    this.range.max = this.number.max = this.episode.last;
    this.range.value = this.number.value = this.at;
    this.total.textContent = ` of ${count(this.episode.last)}`;
    this.timeline.show(this.at, this.marks);
    this.drawPace();
  }

  async redraw() {
    await this.drawTab();
    if (this.found && this.moment && this.foundAt === undefined) this.foundAt = this.at;
    if (this.found && this.foundAt === this.at) highlight(this.panel, this.found);
    else this.found = "";
    if (!this.found) this.foundAt = undefined;
  }

  drawTab() {
    if (!this.moment || !this.panel.isConnected) return null;
    for (const tab of this.tabs.children) {
      tab.setAttribute("aria-selected", tab.id === `tab-${this.tab}`);
      tab.tabIndex = tab.id === `tab-${this.tab}` ? 0 : -1;
    }
    this.panel.setAttribute("aria-labelledby", `tab-${this.tab}`);
    if (this.tab === "prompt") return drawPrompt(this.panel, this.episode, this.moment, this);
    if (this.tab === "costs") return drawCosts(this.panel, this.episode, this.moment);
    if (this.tab === "marks") return this.drawMarks();
    if (this.tab === "notes") return this.app.notes.draw(this.panel, this);
    if (this.tab === "settings") return this.drawSettings();
    if (this.tab === "map") return this.drawMap();
    return drawStep(this.panel, this.episode, this.moment, this);
  }

  open(name) {
    this.tab = name;
    this.panel.scrollTop = 0;
    this.app.remember(this);
    return this.redraw();
  }

  // Arrow keys move between tabs, as everywhere.
  moveTab(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const at = TABS.findIndex(([name]) => name === this.tab);
    const [next] = TABS[(at + by + TABS.length) % TABS.length];
    this.open(next);
    document.getElementById(`tab-${next}`).focus();
  }

  openPrompt(place) {
    this.call = place;
    this.open("prompt");
  }

  drawMap() {
    if (!this.episode.head.squares) return fill(this.panel, h("p", { class: "soft" }, "This kind of game declares no squares."));
    return this.levelmap.draw(this.panel, this.at);
  }

  // Mark where an expression of the search language begins to hold.
  async markBy(words) {
    this.app.mark = words;
    const turn = (this.turn = (this.turn || 0) + 1);
    let matched = [];
    this.wrong = "";
    try {
      if (words.trim()) {
        await this.app.texts.loadEpisode(this.episode, () => {});
        const holds = await this.app.texts.evaluate(parseExpression(words), this.episode, new Set(Object.keys(KINDS)), new Map());
        holds.forEach((yes, at) => { if (yes && !(at && holds[at - 1])) matched.push(at); });
      }
    } catch (error) {
      this.wrong = error.message;
    }
    if (turn !== this.turn || this.app.page !== this) return;
    [this.matched, this.matchedBy] = [matched, words];
    this.measure();
    this.app.remember(this);
    if (this.tab === "marks" && !this.panel.contains(document.activeElement)) this.drawMarks();
    else if (this.markNote) this.markNote.textContent = this.markWords();
  }

  markWords() {
    if (this.wrong) return `Not marked: ${visible(this.wrong)}`;
    return this.matchedBy.trim() ? `begins to hold at ${plural(this.matched.length, "step")}` : "";
  }

  drawMarks() {
    const expression = h("input", { type: "search", value: this.app.mark, placeholder: "e.g. hp<0.3 & action:pray", "aria-label": "Mark steps by an expression", onchange: () => this.markBy(expression.value).then(() => this.drawMarks()) });
    this.markNote = h("span", { class: "soft", role: "status" }, this.markWords());
    const kinds = this.app.run.titles;
    const listed = this.marks;
    const present = Object.keys(MARKS).filter((kind) => this.everyMark.some((mark) => mark[1] === kind));
    const choose = h("fieldset", { class: "kinds" }, h("legend", {}, "Show, and stop at with [ and ]"), present.map((kind) => h("label", {},
      h("input", { type: "checkbox", checked: this.shownKinds.has(kind), onchange: (event) => {
        if (event.target.checked) this.shownKinds.add(kind);
        else this.shownKinds.delete(kind);
        this.timeline.show(this.at, this.marks);
        this.drawMarks();
      } }), markIcon(kind), ` ${kinds[kind] || kind}`)));
    const rows = listed.slice(0, 2000).map(([at, kind, words]) => h("li", { class: at === this.at ? "here" : "" },
      h("button", { type: "button", class: "link", onclick: () => this.app.go(this.episode.key, at, "marks") }, markIcon(kind), h("span", { class: "number" }, count(at)), h("span", { dir: "auto" }, visible(words)))));
    fill(this.panel, h("div", { class: "bar" }, h("label", { class: "by" }, "Mark by expression ", expression), this.markNote), choose, rows.length ? h("ol", { class: "marks" }, rows) : h("p", { class: "soft" }, "No marks of these kinds."));
  }

  drawSettings() {
    const head = this.episode.head;
    const players = (head.players || []).map((player) => section(player.from ? `Player from step ${player.from} on` : "Player",
      ["agent", "model", "knowledge"].map((name) => h("details", { open: name === "agent" }, h("summary", {}, name), textBlock(JSON.stringify(player[name], null, 1))))));
    fill(this.panel, players, section("Game", h("p", {}, head.seeds ? `Seeds ${head.seeds.filter((seed) => seed !== null).join(", ")}` : ""), textBlock(JSON.stringify(head.versions || {}, null, 1))));
  }

  noted() {
    this.timeline.show(this.at, this.marks);
    this.redraw();
  }

  // While an episode is rebuilt or played, new steps are requested every second; a reader at the end of
  // a running episode follows it.
  follow() {
    if (!SERVED || this.episode.head.done || this.following) return;
    this.sayLive();
    this.following = setInterval(() => this.look(), 1000);
  }

  async look() {
    const asked = performance.now();
    if (this.looking || asked < (this.later || 0)) return;
    this.looking = true;
    const held = this.at;
    const end = this.episode.head.settled && held >= this.episode.last;
    const came = await this.episode.refresh().catch(() => false);
    this.looking = false;
    // The head of a long episode takes time from its rebuild, so it is asked for less often.
    this.later = this.episode.head.settled ? 0 : performance.now() + 10 * (performance.now() - asked);
    if (!this.following) return;
    this.sayLive();
    if (came && this.app.mark) this.markBy(this.app.mark);
    if (came && end && this.at === held) await this.seek(this.episode.last, true);
    else if (came && this.moment && this.moment.step) this.measure(); // the panel is not redrawn while it is being read
    else if (came) await this.seek(this.at, true);
    if (this.episode.head.done) this.unfollow();
  }

  sayLive() {
    this.live.hidden = false;
    const { settled, steps } = this.episode.head;
    this.live.textContent = settled ? "Following the journal: steps appear as they are played." : `Rebuilding: ${plural(steps, "step")} so far.`;
  }

  unfollow() {
    clearInterval(this.following);
    this.following = null;
    this.live.hidden = true;
  }

  toggle() {
    if (this.playing) return this.stop();
    if (this.at >= this.episode.last && this.episode.head.done) this.at = -1;
    this.playing = setInterval(() => this.advance(), 1000 / Math.min(this.speed, 32));
    this.play.textContent = "\u23f8";
    this.play.setAttribute("aria-label", "Pause");
    return null;
  }

  advance() {
    if (this.at >= this.episode.last) {
      if (this.episode.head.done) this.stop();
      return;
    }
    this.seek(this.at + Math.max(1, this.speed / 32), true);
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.play.textContent = "\u25b6";
    this.play.setAttribute("aria-label", "Play");
    this.app.remember(this);
  }

  setSpeed(speed) {
    this.speed = speed;
    this.speedBox.value = speed;
    if (this.playing) { this.stop(); this.toggle(); }
  }

  // Jump to the next or previous mark, of all visible kinds or of one kind.
  jump(by, kind) {
    const shown = this.marks;
    const places = (kind ? this.everyMark.filter((mark) => mark[1] === kind) : shown).map((mark) => mark[0]);
    const next = by > 0 ? places.find((at) => at > this.at) : places.reverse().find((at) => at < this.at);
    if (next === undefined) say(`No ${kind ? this.app.run.titles[kind] : "mark"} ${by > 0 ? "after" : "before"} this step`.replace("No a ", "No "));
    else this.seek(next);
  }

  copyLink() {
    this.app.remember(this);
    copy(location.href, "Link");
  }

  async copyMarkdown() {
    copy(await stepAsMarkdown(this.episode, this.moment), "Step");
  }

  key(event) {
    const by = event.shiftKey ? 10 : 1;
    const acts = {
      ArrowRight: () => this.seek(this.at + by), ArrowLeft: () => this.seek(this.at - by),
      "<": () => this.goBeside(-1), ">": () => this.goBeside(1), e: () => this.app.go(this.episode.key, Math.max(0, this.episode.last - BEFORE_THE_END)), Home: () => this.seek(0), End: () => this.seek(this.episode.last), " ": () => this.toggle(),
      "[": () => this.jump(-1), "]": () => this.jump(1), s: () => this.jump(1, "search"), S: () => this.jump(-1, "search"), p: () => this.jump(-1, "deed"), P: () => this.jump(1, "deed"), c: () => this.copyLink(), m: () => this.copyMarkdown(), n: () => this.app.goToHit(1, this.episode.key, this.at), N: () => this.app.goToHit(-1, this.episode.key, this.at), a: () => { this.open("notes"); this.panel.querySelector("textarea").focus(); },
      "+": () => this.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, SPEEDS.indexOf(this.speed) + 1)]),
      "-": () => this.setSpeed(SPEEDS[Math.max(0, SPEEDS.indexOf(this.speed) - 1)]),
    };
    const tab = TABS[Number(event.key) - 1];
    if (tab) this.open(tab[0]);
    else if (acts[event.key]) acts[event.key]();
    else return false;
    return true;
  }

  grown() {
    this.app.drawTop(this.episode);
    if (this.moment) this.app.remember(this);
  }

  leave() {
    if (this.playing) this.stop();
    this.unfollow();
  }
}
