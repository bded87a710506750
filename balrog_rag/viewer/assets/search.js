// Full-text search over prompts, answers, queries, passages, actions and notes.

const KINDS = { prompt: "prompts", answer: "answers", query: "queries", passage: "passages", action: "actions", message: "messages of the game" };
const MOST_STEPS = 300;
const DRAWN_EVERY = 500; // milliseconds between two updates of the results while episodes are read
const AROUND = 60; // characters shown before and after a hit
const LINKED = 8; // steps of a place that are linked at first

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
      put("message", at, (chunk.heard || [])[place]);
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

  // Matching steps of all episodes, each with its first hit. `kinds` are those searched for words without a field.
  async find(words, kinds) {
    const tree = parseExpression(words);
    const hits = new Map(); // by episode and step
    const found = new Map();
    for (const episode of this.app.episodes.values()) {
      if (!episode.head) continue;
      const steps = await this.evaluate(tree, episode, kinds, hits);
      steps.forEach((yes, at) => { if (yes) found.set(`${episode.place} ${at}`, { episode, at, kinds: new Set(), ...hits.get(`${episode.place} ${at}`) }); });
    }
    return { steps: [...found.values()], hits: [...found.keys()].reduce((sum, key) => sum + (hits.get(key) ? hits.get(key).kinds.size : 1), 0) };
  }

  // For each step of an episode, whether it matches.
  async evaluate(tree, episode, kinds, hits) {
    if (tree.is === "term") return this.term(tree, episode, kinds, hits);
    const parts = [];
    for (const part of tree.parts) parts.push(await this.evaluate(part, episode, kinds, tree.is === "NOT" ? new Map() : hits));
    if (tree.is === "NOT") return parts[0].map((yes) => 1 - yes);
    return parts[0].map((_, at) => Number(tree.is === "AND" ? parts.every((part) => part[at]) : parts.some((part) => part[at])));
  }

  async term(term, episode, kinds, hits) {
    const made = new Uint8Array(episode.last + 1);
    const { field, operator, value } = term;
    const kind = FIELDS[field];
    if (!field || kind) return this.texts(term, episode, kind ? new Set([kind]) : kinds, hits, made);
    if (field === "label" || field === "note") {
      for (const note of this.app.notes.of(episode.key)) {
        const fits = (field === "label" ? note.label || "" : note.text).toLowerCase().includes(value.toLowerCase());
        if (fits && note.step < 0) made.fill(1);
        else if (fits && note.step <= episode.last) made[note.step] = 1;
      }
      return made;
    }
    if (operator === ":" && Number.isNaN(Number(value))) return made.fill(Number(rowMatches(term, episode.row, [])));
    const numbers = numbersOf(episode, field, Number(value));
    for (let at = 0; at <= episode.last; at++) made[at] = Number(compares(numbers(at), term));
    return made;
  }

  async texts({ operator, value }, episode, kinds, hits, made) {
    const own = this.parts.filter((part) => part.episode === episode);
    if (!value) return made;
    const put = (part, item, from, length) => {
      const at = part.steps[item];
      made[at] = 1;
      const key = `${episode.place} ${at}`;
      if (!hits.has(key)) hits.set(key, { kinds: new Set(), text: part.texts[item], from, length, kind: part.kinds[item] });
      hits.get(key).kinds.add(part.kinds[item]);
    };
    if (operator === ":~") {
      const items = own.flatMap((part) => part.kinds.map((kind, item) => [part, item]).filter(([, item]) => kinds.has(part.kinds[item])));
      const found = await matchesOf(value, items.map(([part, item]) => part.texts[item]));
      for (const [place, from, length] of found) put(...items[place], from, length);
      return made;
    }
    const wanted = value.toLowerCase();
    for (const part of own) {
      let from = part.small.indexOf(wanted);
      while (from >= 0) {
        const item = indexBelow(part.starts, from);
        if (kinds.has(part.kinds[item])) put(part, item, from - part.starts[item], wanted.length);
        if (item + 1 >= part.starts.length) break; // one hit per text is enough
        from = part.small.indexOf(wanted, part.starts[item + 1]);
      }
    }
    return made;
  }
}

const FIELDS = { action: "action", answer: "answer", query: "query", passage: "passage", prompt: "prompt", message: "message" };

// A number of each step by name: a curve, the game's time, or what the step cost.
function numbersOf(episode, field, wanted) {
  const { head, spending } = episode;
  const health = field === "hp" || field === "health";
  const curve = head.curves.find((each) => each.name === (health ? "health" : field));
  const share = health && Math.abs(wanted) <= 1 ? 100 : 1; // hp<0.3 is a share, hp<30 a percentage
  if (curve) return (at) => curve.values[Math.min(at, curve.values.length - 1)] / share;
  const constant = (head.constant || {})[health ? "health" : field];
  if (constant !== undefined) return () => constant / share;
  if (field === "step") return (at) => at;
  if ((field === "turn" || field === "time") && head.clock) return (at) => head.clock[at];
  if (["tokens", "dollars", "seconds"].includes(field)) return (at) => spending[field][at] - (at ? spending[field][at - 1] : 0);
  return () => episode.row[field] ?? null;
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

const LANGUAGE = "Words are searched as a phrase. Fields: action: answer: query: passage: prompt: message: note: label: outcome: cause: how: run: episode: agent: model: contain a text (quote it if it has spaces); field:~pattern is a regular expression. hp, progression, step, turn, tokens, dollars, depth and the game's other measures compare with < <= > >= = !=; hp<0.3 is a share. Combine with AND (&), OR (|), NOT (!) and parentheses.";

class SearchPage {
  constructor(app) {
    this.app = app;
    this.kinds = new Set(Object.keys(KINDS));
    this.input = h("input", { type: "search", placeholder: "Words, or e.g. action:pray & hp<0.3", "aria-label": "Search", oninput: () => this.later() });
    this.note = h("p", { class: "soft", role: "status" });
    this.left = h("ul", { class: "warning" });
    this.unread = "Reading the episodes";
    this.drawn = 0;
    this.results = h("div", { class: "results" });
    const kinds = Object.entries(KINDS).map(([kind, words]) => h("label", {}, h("input", { type: "checkbox", checked: true, onchange: (event) => { if (event.target.checked) this.kinds.add(kind); else this.kinds.delete(kind); this.draw(); } }), ` ${words}`));
    this.element = h("div", { class: "search" }, h("h1", { class: "title" }, "Search"), h("div", { class: "bar" }, this.input, kinds), h("details", { class: "soft" }, h("summary", {}, "Search language"), h("p", {}, LANGUAGE)), this.note, this.left, this.results);
  }

  async open(words) {
    this.input.value = words;
    this.input.focus();
    await this.app.texts.load((done, all, waited) => {
      const rebuilt = waited ? `; rebuilding ${visible(waited.key)}: ${plural(waited.rebuilt, "step")}` : "";
      this.unread = done < all ? `${count(done)} of ${plural(all, "episode")} read so far${rebuilt}` : "";
      if (done === all || performance.now() - this.drawn > DRAWN_EVERY) this.draw();
    });
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.draw(), 120);
  }

  async draw() {
    if (this.app.page !== this) return;
    this.drawn = performance.now();
    const words = this.input.value;
    history.replaceState(null, "", "#" + new URLSearchParams({ search: words }));
    const begun = performance.now();
    const turn = (this.turn = (this.turn || 0) + 1);
    let found = { steps: [], hits: 0 };
    let wrong = "";
    try {
      if (words.trim()) found = await this.app.texts.find(words, this.kinds);
    } catch (error) {
      wrong = error.message;
    }
    if (turn !== this.turn || this.app.page !== this) return;
    const { steps, hits } = found;
    const took = performance.now() - begun;
    const size = short(this.app.texts.characters);
    const said = words ? `${plural(hits, "text")} at ${plural(steps.length, "step")}, of ${size} characters, in ${took.toFixed(0)} ms` : `${size} characters searchable.`;
    this.note.textContent = wrong ? `Not searched: ${visible(wrong)}` : this.unread ? `${this.unread}. ${words ? `So far: ${plural(hits, "text")} in ${size} characters.` : ""}` : said;
    fill(this.left, [...this.app.texts.missing].map(([key, why]) => h("li", {}, `${visible(key)} was only partly searched: ${visible(why)}`)));
    this.app.hits = steps;
    const groups = groupedHits(steps);
    fill(this.results, this.byEpisode(groups.slice(0, MOST_STEPS), steps),
      groups.length > MOST_STEPS ? h("p", { class: "soft" }, `Showing the first ${MOST_STEPS} places; add words to narrow the search.`) : null);
  }

  // The places of each episode under its name.
  byEpisode(groups, steps) {
    const parts = new Map();
    for (const group of groups) parts.set(group.episode, [...(parts.get(group.episode) || []), h("li", {}, this.group(group))]);
    return [...parts].map(([episode, places]) => h("section", {}, this.app.single ? null : h("h2", { dir: "auto" }, h("a", { href: "#" + this.app.hash({ episode: episode.key }) }, breakable(episode.key)),
      h("span", { class: "soft" }, ` ${plural(steps.filter((step) => step.episode === episode).length, "step")}`)), h("ol", {}, places)));
  }

  // Where a place is, and what is there: its first steps as links, the others on request.
  group({ steps }) {
    const [first, last] = [steps[0], steps[steps.length - 1]];
    const stretch = first.text === undefined && steps.length > 2; // neighbours without a text to show
    const few = steps.length <= LINKED + 2;
    const named = stretch ? [first, last] : few ? steps : steps.slice(0, LINKED);
    const others = stretch ? steps.slice(1, -1) : few ? [] : steps.slice(LINKED);
    const inside = h("ol", {});
    const more = others.length ? h("details", {}, h("summary", {}, `and ${plural(others.length, "more step")}`), inside) : null;
    if (more) more.addEventListener("toggle", () => { if (more.open && !inside.firstChild) fill(inside, others.map((step) => h("li", {}, this.link(step)))); });
    const links = named.map((step, place) => [place ? (stretch ? " to " : " ") : "", this.link(step)]);
    return [h("div", { class: "at" }, h("p", {}, steps.length === 1 ? "step " : "steps ", links), more), this.shown(first)];
  }

  link(step) {
    return h("a", { href: "#" + this.app.hash(placeOf(step)) }, count(step.at));
  }

  shown(step) {
    const { text, from, length } = step;
    if (text === undefined) return h("p", { class: "soft", dir: "auto" }, "action ", visible(step.episode.action(step.at)));
    const [before, behind] = around(step);
    return h("p", { class: "found" }, h("span", { class: "hit", dir: "auto" }, from > AROUND ? "\u2026 " : "", visible(before), h("mark", {}, visible(text.slice(from, from + length))), visible(behind), from + length + AROUND < text.length ? " \u2026" : ""),
      h("span", { class: "soft" }, "in ", [...step.kinds].map((kind) => KINDS[kind]).join(", ")));
  }

  key() { return false; }

  grown() {}

  leave() {}
}

const NEAR = 3; // steps between hits that are one place

// The text before and after a hit, as it is shown.
function around({ text, from, length }) {
  const shown = (start, end) => text.slice(start, end).replace(/\s+/g, " ");
  const [start, end] = [Math.max(0, from - AROUND), from + length + AROUND];
  const [before, behind] = [shown(start, from), shown(from + length, end)];
  return [start ? before.replace(/^\S{1,20} /, "") : before, end < text.length ? behind.replace(/ \S{1,20}$/, "") : behind]; // words that are cut off are left out
}

// Hits of one episode that look the same, or whose steps are neighbours.
function groupedHits(steps) {
  const groups = [];
  let alike = new Map();
  for (const step of steps) {
    const last = groups[groups.length - 1];
    const own = last && last.episode === step.episode;
    if (!own) alike = new Map();
    const look = step.text === undefined ? null : JSON.stringify([step.kind, step.text.slice(step.from, step.from + step.length).toLowerCase(), ...around(step)]);
    const near = own && step.at - last.steps[last.steps.length - 1].at <= NEAR ? last : null;
    const group = (look !== null && alike.get(look)) || near;
    if (group) group.steps.push(step);
    else groups.push({ episode: step.episode, steps: [step] });
    if (look !== null && !alike.has(look)) alike.set(look, group || groups[groups.length - 1]);
  }
  return groups;
}

// The address of a hit: its step, the tab with its text, and the text to highlight.
function placeOf(step) {
  return { episode: step.episode.key, step: step.at, tab: step.kind === "prompt" ? "prompt" : "step", find: step.text === undefined ? undefined : step.text.slice(step.from, step.from + step.length).slice(0, 200) };
}

const MOST_MARKED = 200;

// Highlight a text within an element, and scroll to its first occurrence.
function highlight(box, text) {
  if (!text) return;
  const wanted = visible(text).toLowerCase();
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode() && nodes.length < MOST_MARKED) if (walker.currentNode.textContent.toLowerCase().includes(wanted)) nodes.push(walker.currentNode);
  const marks = nodes.map((node) => {
    const from = node.textContent.toLowerCase().indexOf(wanted);
    const found = node.splitText(from);
    found.splitText(Math.min(wanted.length, found.length));
    const mark = h("mark", {}, found.textContent);
    found.replaceWith(mark);
    return mark;
  });
  const first = marks.find((mark) => mark.closest("pre")) || marks[0];
  if (!first) return;
  for (let each = first.closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
  first.scrollIntoView({ block: "center" });
}
