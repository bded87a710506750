// Full-text search over prompts, answers, queries, passages, actions and notes.

const KINDS = { prompt: "prompts", answer: "answers", query: "queries", passage: "passages", action: "actions" };
const MOST_STEPS = 300;
const DRAWN_EVERY = 500; // milliseconds between two updates of the results while episodes are read
const AROUND = 60; // characters shown before and after a hit

// The texts of all episodes in lower case, unpacked once and cached.
class Texts {
  constructor(app) {
    this.app = app;
    this.parts = []; // one per chunk, in the order of episodes and steps
    this.characters = 0;
    this.whole = new Map(); // number of complete chunks by episode
    this.missing = new Map(); // errors by episode
    this.loading = null;
  }

  // Read episodes that are not cached, one after the other; `progress` is called after each.
  load(progress) {
    this.progress = progress;
    this.loading = this.loading || this.loadAll().finally(() => { this.loading = null; });
    return this.loading;
  }

  async loadAll() {
    const episodes = [...this.app.episodes.values()];
    let done = 0;
    for (const episode of episodes) {
      this.missing.delete(episode.key);
      try {
        if (episode.row.state === "damaged") throw new Error(episode.row.how || "damaged");
        await this.loadEpisode(episode, () => this.progress(done, episodes.length, episode));
        if (episode.head.failure) this.missing.set(episode.key, episode.cutOff);
      } catch (error) {
        this.missing.set(episode.key, error.message);
      }
      this.progress(++done, episodes.length, null);
    }
  }

  async loadEpisode(episode, waiting) {
    await episode.open(Infinity, waiting);
    const whole = episode.head.done ? episode.chunkCount : episode.chunkCount - 1; // the last chunk may still grow
    for (let number = this.whole.get(episode.key) || 0; number < episode.chunkCount; number++) {
      const chunk = await readDocument(`${episode.place}/${number}`);
      this.put(this.add(episode, chunk, number));
      if (number < whole) this.whole.set(episode.key, number + 1);
    }
  }

  // Insert a part in order, replacing an earlier version of the same chunk.
  put(part) {
    const order = (other) => other.episode.place - part.episode.place || other.number - part.number;
    let at = this.parts.length;
    while (at > 0 && order(this.parts[at - 1]) > 0) at--;
    const same = at > 0 && order(this.parts[at - 1]) === 0;
    if (same) this.characters -= this.parts[at - 1].characters;
    this.parts.splice(same ? at - 1 : at, same ? 1 : 0, part);
    this.characters += part.characters;
  }

  add(episode, chunk, number) {
    const part = { episode, number, kinds: [], steps: [], starts: [], texts: [], small: "" };
    const put = (kind, step, text) => {
      if (!text) return;
      part.kinds.push(kind);
      part.steps.push(step);
      part.texts.push(text);
    };
    const firsts = episode.head.firsts;
    const seen = { messages: new Set(), passages: new Set() };
    const steps = chunk.open ? [...chunk.steps, { said: chunk.open }] : chunk.steps;
    steps.forEach((step, place) => {
      const at = chunk.at + place;
      put("action", at, step.do);
      put("answer", at, step.reasoning);
      for (const said of step.said || []) {
        if ("query" in said) {
          put("query", at, said.query);
          for (const [id] of said.found) once(seen.passages, id, firsts.passages[number], chunk.passages, ([, title, text]) => put("passage", at, `${title}\n${text}`));
          continue;
        }
        let id = 0;
        for (const by of said.ask || []) once(seen.messages, (id += by), firsts.messages[number], chunk.messages, ([, text]) => put("prompt", at, text));
        put("answer", at, said.thought);
        put("answer", at, said.text);
        for (const [name, given] of said.calls || []) put("answer", at, `${name} ${given}`);
      }
    });
    let length = 0;
    for (const text of part.texts) { part.starts.push(length); length += text.length + 1; }
    part.small = part.texts.join("\u0001").toLowerCase();
    if (part.small.length !== Math.max(0, length - 1)) part.small = part.texts.map((text) => sameLength(text)).join("\u0001");
    part.characters = length;
    return part;
  }

  // Matching steps, each with its first hit and the kinds of text that match.
  find(words, kinds) {
    const wanted = words.toLowerCase();
    const found = new Map();
    let hits = 0;
    if (!wanted) return { steps: [], hits };
    for (const part of this.parts) {
      let from = part.small.indexOf(wanted);
      while (from >= 0) {
        const item = indexBelow(part.starts, from);
        if (kinds.has(part.kinds[item])) {
          hits++;
          const name = `${part.episode.key} ${part.steps[item]}`;
          let step = found.get(name);
          if (!step) found.set(name, (step = { episode: part.episode, at: part.steps[item], kinds: new Set(), text: part.texts[item], from: from - part.starts[item] }));
          step.kinds.add(part.kinds[item]);
        }
        if (item + 1 >= part.starts.length) break; // one hit per text is enough
        from = part.small.indexOf(wanted, part.starts[item + 1]);
      }
    }
    return { steps: [...found.values()], hits };
  }
}

function once(seen, id, first, table, put) {
  if (id < first || seen.has(id)) return;
  seen.add(id);
  put(table[id - first]);
}

// Lower case, character by character if converting the whole text would change its length.
function sameLength(text) {
  return [...text].map((sign) => { const small = sign.toLowerCase(); return small.length === sign.length ? small : sign; }).join("");
}

function indexBelow(starts, at) {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

class SearchPage {
  constructor(app) {
    this.app = app;
    this.kinds = new Set(Object.keys(KINDS));
    this.input = h("input", { type: "search", placeholder: "Words in prompts, answers, queries, passages, actions", "aria-label": "Search", oninput: () => this.later() });
    this.note = h("p", { class: "soft", role: "status" });
    this.left = h("ul", { class: "warning" });
    this.unread = "Reading the episodes";
    this.drawn = 0;
    this.results = h("ol", { class: "results" });
    const kinds = Object.entries(KINDS).map(([kind, words]) => h("label", {}, h("input", { type: "checkbox", checked: true, onchange: (event) => { if (event.target.checked) this.kinds.add(kind); else this.kinds.delete(kind); this.draw(); } }), ` ${words}`));
    this.element = h("div", { class: "search" }, h("div", { class: "bar" }, this.input, kinds), this.note, this.left, this.results);
  }

  async open(words) {
    this.input.value = words;
    this.input.focus();
    await this.app.texts.load((done, all, waited) => {
      const rebuilt = waited ? `; rebuilding ${visible(waited.key)}: ${plural(waited.last, "step")}` : "";
      this.unread = done < all ? `${count(done)} of ${plural(all, "episode")} read so far${rebuilt}` : "";
      if (done === all || performance.now() - this.drawn > DRAWN_EVERY) this.draw();
    });
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.draw(), 120);
  }

  draw() {
    if (this.app.page !== this) return;
    this.drawn = performance.now();
    const words = this.input.value;
    history.replaceState(null, "", "#" + new URLSearchParams({ search: words }));
    const begun = performance.now();
    const { steps, hits } = this.app.texts.find(words, this.kinds);
    const took = performance.now() - begun;
    const size = short(this.app.texts.characters);
    const found = words ? `${plural(hits, "text")} at ${plural(steps.length, "step")}, of ${size} characters, in ${took.toFixed(0)} ms` : `${size} characters searchable.`;
    this.note.textContent = this.unread ? `${this.unread}. ${words ? `So far: ${plural(hits, "text")} in ${size} characters.` : ""}` : found;
    fill(this.left, [...this.app.texts.missing].map(([key, why]) => h("li", {}, `${visible(key)} was only partly searched: ${visible(why)}`)));
    fill(this.results, steps.slice(0, MOST_STEPS).map((step) => this.row(step, words)),
      steps.length > MOST_STEPS ? h("li", { class: "soft" }, `Showing the first ${MOST_STEPS} steps; add words to narrow the search.`) : null);
  }

  row(step, words) {
    const { text, from } = step;
    const start = Math.max(0, from - AROUND);
    const behind = from + words.length;
    return h("li", {},
      h("a", { href: "#" + this.app.hash({ episode: step.episode.key, step: step.at }), dir: "auto" }, visible(this.app.single ? "" : step.episode.key + " "), `step ${step.at}`),
      h("span", { class: "soft" }, ` ${[...step.kinds].map((kind) => KINDS[kind]).join(", ")}`),
      h("p", { class: "hit", dir: "auto" }, start ? "\u2026" : "", visible(text.slice(start, from).replace(/\s+/g, " ")), h("mark", {}, visible(text.slice(from, behind))), visible(text.slice(behind, behind + AROUND).replace(/\s+/g, " "))));
  }

  key() { return false; }

  grown() {}

  leave() {}
}
