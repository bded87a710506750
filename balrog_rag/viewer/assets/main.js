// The whole page: navigation, stored in the address, and the keys.

const KEYS = [
  ["\u2190 \u2192", "one step back or forward; with Shift ten"], ["Home End", "first moment, last moment"], ["space", "play or pause"],
  ["+ \u2212", "faster, slower"], ["[ ]", "previous mark, next mark"], ["s S", "next search, previous search"], ["< >", "previous episode, next episode of the list"], ["e", "20 steps before the end"], ["p P", "previous rare action, such as a prayer; next rare action"], ["1 \u2026 7", "step, prompt, costs, marks, notes, settings, map"], ["/", "search everything that was read and written"], ["n N", "next hit of the last search, previous hit"], ["a", "a note on this step"],
  ["c", "copy a link to this step"], ["m", "copy this step as Markdown"], ["d x", "side by side: first different action, next one"], ["r", "list of episodes"], ["t", "theme: light, dark, system"], ["?", "show these keys"],
];

const LOOK_AGAIN = 2000; // milliseconds between checks for episodes that started or ended

class App {
  constructor(run) {
    this.run = run;
    this.episodes = new Map(run.episodes.map((row, place) => [row.key, new Episode(place, row)]));
    this.page = null;
    this.routes = 0; // number of navigations, so that a late response does not replace a newer page
    this.arriving = false; // navigating to the page in the address
    this.theme = "";
    this.listed = ""; // order and filter of the list
    this.mark = run.mark || ""; // the expression by which steps are marked
    this.notes = new Notes(this);
    this.texts = new Texts(this);
    this.entitle();
    if (SERVED) setTimeout(() => this.lookAgain(), LOOK_AGAIN);
    window.addEventListener("hashchange", () => this.route());
    document.addEventListener("keydown", (event) => this.key(event));
    document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); document.getElementById("main").focus(); });
  }

  get single() {
    return this.run.episodes.length === 1;
  }

  entitle() {
    document.title = `${visible(this.run.title)} \u00b7 balrog_rag viewer`;
  }

  // Fetch started and ended episodes; less often on a slow disk, so that a running run is not delayed.
  async lookAgain() {
    const asked = performance.now();
    if (!document.hidden) await readDocument("rows").then((found) => { this.gone(false); this.grown(found); }).catch((error) => this.gone(error instanceof TypeError));
    setTimeout(() => this.lookAgain(), Math.max(LOOK_AGAIN, 20 * (performance.now() - asked)));
  }

  // A request that cannot be sent at all means that the server has stopped.
  gone(is) {
    const box = document.getElementById("gone");
    if (is === !box.hidden) return;
    box.hidden = !is;
    box.textContent = is ? "The server has stopped: what is shown may be out of date. Start `balrog-rag view` again and open the address that it prints." : "";
  }

  // An episode keeps its index, but its row may have changed.
  grown({ title, episodes, heads }) {
    if (JSON.stringify(episodes) === JSON.stringify(this.run.episodes)) return;
    const known = [...this.episodes.values()];
    Object.assign(this.run, { title, episodes, heads });
    this.episodes = new Map(episodes.map((row, place) => [row.key, Object.assign(known[place] || new Episode(place, row), { row, key: row.key })]));
    this.entitle();
    if (this.page) this.page.grown();
  }

  hash(values) {
    const kept = Object.entries(values).filter(([name, value]) => value !== undefined && value !== null && !(name === "episode" && this.single));
    return new URLSearchParams(kept).toString().replace(/%2F/g, "/").replace(/%3A/g, ":");
  }

  askedAt(key) {
    return new Map(this.run.retrieval.flatMap((found) => found.asked.filter((one) => one.key === key).map((one) => [one.step, one])));
  }

  // Go to the next or previous hit of the last search.
  goToHit(by, key, at) {
    const hits = this.hits || [];
    const place = this.episodes.get(key).place;
    const order = (hit) => hit.episode.place - place || hit.at - at;
    const next = by > 0 ? hits.find((hit) => order(hit) > 0) : hits.filter((hit) => order(hit) < 0).pop();
    if (!next) return say(hits.length ? `No hit ${by > 0 ? "after" : "before"} this step` : "Search first: /");
    location.hash = "#" + this.hash(placeOf(next));
    return null;
  }

  // The rows of the list in its last order, as filtered.
  ordered() {
    return this.order || this.run.episodes;
  }

  // Go to a step with a new history entry, so that the browser's Back returns.
  go(key, step, tab) {
    location.hash = "#" + this.hash({ episode: key, step, tab });
  }

  // Write the current position into the address, without a new history entry.
  remember(page) {
    if (page !== this.page || this.arriving) return;
    const hash = "#" + this.hash({ episode: page.episode.key, step: page.at, tab: page.tab === "step" ? undefined : page.tab, mark: this.mark && this.mark !== this.run.mark ? this.mark : undefined });
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  async route() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    this.routes++;
    this.arriving = false;
    if (wanted.has("search")) return this.search(wanted.get("search"));
    if (wanted.has("compare")) return this.sideBySide(wanted);
    const key = wanted.get("episode") || (this.single ? this.run.episodes[0].key : null);
    if (!key) return this.show(new RunPage(this, wanted), null);
    const episode = this.episodes.get(key);
    if (!episode) return this.fail(`There is no episode ${visible(key)} here.`);
    const step = Math.max(0, Math.round(Number(wanted.get("step"))) || 0);
    if (!(await this.opened([episode], step))) return null;
    if (!(this.page instanceof EpisodePage) || this.page.episode !== episode) this.show(new EpisodePage(episode, this), episode);
    if (wanted.get("tab")) this.page.tab = wanted.get("tab");
    this.page.found = wanted.get("find") || "";
    if (wanted.get("mark") !== null) this.mark = wanted.get("mark");
    if (this.mark !== this.page.matchedBy) this.page.markBy(this.mark);
    if (step > episode.last) say(`There is no step ${count(step)}; showing the last one.`);
    const shown = this.page.seek(step);
    this.page.follow();
    return shown;
  }

  // Wait until episodes are rebuilt up to a step, or completely; false if that failed or the user navigated away.
  async opened(episodes, step) {
    const route = this.routes;
    const waiting = () => {
      if (route !== this.routes) return;
      this.wait(`Rebuilding ${episodes.map((each) => `${visible(each.key)}: ${plural(each.rebuilt || 0, "step")}`).join(", ")} so far.`, episodes.length === 1 ? episodes[0].look : null);
    };
    this.arriving = true;
    try {
      await Promise.all(episodes.map((episode) => episode.open(step, waiting)));
      return route === this.routes;
    } catch (error) {
      if (route === this.routes) this.fail(`${episodes.length === 1 ? visible(episodes[0].key) + ": " : ""}${visible(error.message)}`);
      return false;
    } finally {
      if (route === this.routes) this.arriving = false;
    }
  }

  compared(keys, more) {
    return [...keys.map((key) => ["compare", key]), ...Object.entries(more || {})].map((pair) => new URLSearchParams([pair]).toString()).join("&").replace(/%2F/g, "/").replace(/%3A/g, ":");
  }

  rememberCompared(page) {
    if (page !== this.page || this.arriving) return;
    const more = { step: page.at, ...(page.lock === "turn" ? { lock: "turn" } : {}) };
    history.replaceState(null, "", "#" + this.compared(page.episodes.map((episode) => episode.key), more));
  }

  async sideBySide(wanted) {
    const keys = wanted.getAll("compare");
    const episodes = keys.map((key) => this.episodes.get(key));
    if (episodes.length < 2 || episodes.some((episode) => !episode)) return this.fail("Select two or more episodes of this page to compare.");
    if (!(await this.opened(episodes))) return null;
    const same = this.page instanceof ComparePage && this.page.episodes.every((episode, place) => episode === episodes[place]) && this.page.episodes.length === episodes.length;
    if (!same) this.show(new ComparePage(episodes, this), null);
    if (wanted.get("lock")) this.page.lock = wanted.get("lock");
    return this.page.seek(wanted.has("step") ? Number(wanted.get("step")) : this.page.difference || 0);
  }

  search(words) {
    if (!(this.page instanceof SearchPage)) this.show(new SearchPage(this), null);
    return this.page.open(words || "");
  }

  show(page, episode) {
    if (this.page) this.page.leave();
    this.page = page;
    this.drawTop(episode);
    fill(document.getElementById("main"), page.element);
    return null;
  }

  fail(words) {
    this.put(h("p", { class: "warning" }, words));
  }

  // What the page waits for; with a first look at a step, that is drawn below until everything about it is known.
  wait(words, look) {
    const status = document.querySelector("#main > .early > .waiting");
    if (look && status) status.textContent = words; // the screen stays as it is, with what is selected in it
    else this.put(look ? earlyLook(words, look) : h("p", { class: "waiting", role: "status" }, words));
  }

  put(element) {
    if (this.page) this.page.leave();
    this.page = null;
    this.drawTop(null);
    fill(document.getElementById("main"), element);
  }

  drawTop(episode) {
    const row = episode ? episode.row : null;
    const facts = row ? [row.kind, row.agent, row.model, row.outcome && outcomeWords(row.outcome), row.progression === undefined ? null : `${row.progression.toFixed(2)} %`] : [];
    fill(document.getElementById("top"),
      h("nav", { "aria-label": "Breadcrumb" },
        this.run.back ? [h("a", { href: this.run.back.href, class: "back" }, visible(this.run.back.text)), h("span", { class: "soft", "aria-hidden": "true" }, "/")] : null,
        this.single ? h("span", { class: "name", dir: "auto" }, visible(this.run.title)) : h("a", { href: "#" + this.listed, class: "name", dir: "auto" }, visible(this.run.title)),
        row ? [h("span", { class: "soft", "aria-hidden": "true" }, "/"), h("h1", { dir: "auto" }, visible(row.key))] : null),
      h("p", { class: "facts", dir: "auto" }, visible(facts.filter(Boolean).join(" \u00b7 "))),
      h("div", { class: "tools" }, h("button", { type: "button", title: "Search (/)", onclick: () => { location.hash = "#search="; } }, "Search"), h("button", { type: "button", onclick: () => this.turnTheme() }, "Theme"), h("button", { type: "button", onclick: () => this.help() }, "Keys")));
  }

  turnTheme() {
    const next = { "": "dark", dark: "light", light: "" };
    this.theme = next[this.theme];
    if (this.theme) document.documentElement.dataset.theme = this.theme;
    else delete document.documentElement.dataset.theme;
    if (this.page && this.page.timeline) this.page.timeline.draw();
    say(this.theme ? `${this.theme} theme` : "system theme");
  }

  help() {
    const overlay = document.getElementById("overlay");
    overlay.hidden = !overlay.hidden;
    for (const name of ["top", "main"]) document.getElementById(name).inert = !overlay.hidden; // the focus stays in the box
    if (overlay.hidden) {
      if (this.focused) this.focused.focus();
      return;
    }
    this.focused = document.activeElement;
    const close = h("button", { type: "button", onclick: () => this.help() }, "Close");
    fill(overlay, h("div", { class: "box", role: "dialog", "aria-modal": "true", "aria-label": "Keys" }, h("h2", {}, "Keys"),
      h("dl", {}, KEYS.map(([key, words]) => [h("dt", {}, key.split(" ").map((one) => [h("kbd", {}, one), " "])), h("dd", {}, words)])), close));
    overlay.onkeydown = (event) => { if (event.key === "Tab") { event.preventDefault(); close.focus(); } };
    close.focus();
  }

  key(event) {
    const overlay = document.getElementById("overlay");
    if (event.key === "Escape" && !overlay.hidden) return this.help();
    const into = event.target;
    if (event.key === "Escape" && into.matches("textarea, select, input")) return into.blur();
    const writes = into.matches("textarea, select, input:not([type=range]):not([type=checkbox])");
    const presses = into.matches("button, a, summary, input[type=checkbox]") && [" ", "Enter"].includes(event.key);
    if (writes || presses || event.ctrlKey || event.metaKey || event.altKey) return null;
    const acts = { "?": () => this.help(), t: () => this.turnTheme(), "/": () => { location.hash = "#search="; }, r: () => { if (!this.single) location.hash = "#" + this.listed; } };
    if (acts[event.key]) acts[event.key]();
    else if (!this.page || !this.page.key(event)) return null;
    event.preventDefault();
    return null;
  }
}

readDocument("run").then((run) => new App(run).route()).catch((error) => {
  fill(document.getElementById("main"), h("p", { class: "warning" }, "This page cannot be shown: ", visible(error.message)));
});
