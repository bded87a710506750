// Documents, unpacked from blocks of this page or fetched from its server.

const SERVED = document.documentElement.dataset.served === "true";
const KEPT_CHUNKS = 400; // unpacked chunks kept in memory

async function unpack(bytes) {
  // Written to the stream directly: a Blob's bytes would make a detour through the browser's own process.
  const stream = new DecompressionStream("deflate");
  const writer = stream.writable.getWriter();
  Promise.all([writer.write(bytes), writer.close()]).catch(() => {}); // the reader reports what is wrong
  const reader = stream.readable.getReader();
  const decoder = new TextDecoder();
  const pieces = [];
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) pieces.push(decoder.decode(piece.value, { stream: true }));
  return JSON.parse(pieces.join("") + decoder.decode());
}

function blockBytes(name) {
  const block = document.getElementById("block " + name);
  if (!block) return null;
  const signs = atob(block.textContent);
  const bytes = new Uint8Array(signs.length);
  for (let at = 0; at < signs.length; at++) bytes[at] = signs.charCodeAt(at);
  return bytes;
}

async function readDocument(name, query = "") {
  if (!SERVED) {
    const bytes = blockBytes(name);
    if (!bytes) throw new Error("this part is missing from the page; it was left out when the file was written");
    return unpack(bytes);
  }
  const answer = await fetch(`data/${name}${query}`, { cache: "no-store" });
  if (!answer.ok) throw new Error((await answer.text()).slice(0, 500));
  return unpack(new Uint8Array(await answer.arrayBuffer()));
}

// An episode: its head is read when it is opened, its chunks when they are displayed.
class Episode {
  constructor(place, row) {
    this.place = place;
    this.row = row;
    this.key = row.key;
    this.chunks = new Map();
    this.head = null;
  }

  // Read the head until that many steps are rebuilt; without a number, all steps in the journal.
  // `progress` is called after each request that did not complete it.
  async open(steps = Infinity, progress = () => {}) {
    if (this.head && (this.head.done || this.last >= steps)) return this;
    for (;;) {
      await this.refresh(steps);
      if (!this.waiting) return this;
      progress(this);
    }
  }

  // Read the head again and drop incomplete chunks. Returns true if anything was added.
  // A server answers when it has that many steps; after a second only with the number it has so far, and with
  // a first look at the step that was asked for.
  async refresh(steps = 0) {
    const before = this.head;
    const head = await readDocument(`${this.place}/head`, Number.isFinite(steps) ? `?steps=${steps}` : "");
    this.waiting = head.waiting === true;
    this.rebuilt = head.steps;
    this.look = head.look || null;
    if (this.waiting) return false;
    if (before) this.chunks.delete(Math.floor(before.steps / before.chunk));
    this.head = head;
    this.last = head.steps;
    this.spending = cumulated(head);
    return !before || before.steps !== head.steps || before.done !== head.done || before.settled !== head.settled;
  }

  // Why steps after the last one are unknown; empty if the episode has ended.
  get cutOff() {
    if (this.head.failure) return `could only be replayed to step ${count(this.last)}: ${this.head.failure}`;
    return this.head.outcome ? "" : "has not ended";
  }

  // Each look-up: step, tokens, and since when its passages are known.
  get lookups() {
    const seen = new Map();
    return (this.head.lookups || []).map(([step, tokens, passages]) => {
      const fresh = passages.filter((passage) => !seen.has(passage));
      for (const passage of passages) if (!seen.has(passage)) seen.set(passage, step);
      return { step, tokens, passages, fresh: fresh.length, first: new Map(passages.map((passage) => [passage, seen.get(passage)])) };
    });
  }

  // The step of the first look-up that found a passage.
  firstSeen(number) {
    return this.lookups.map(({ first }) => first.get(number)).find((step) => step !== undefined);
  }

  // How many steps took no time of the game, of those with a known time.
  get free() {
    const { clock } = this.head;
    if (!clock) return null;
    let still = 0;
    for (let at = 1; at < clock.length; at++) still += clock[at] === clock[at - 1];
    return [still, clock.length - 1];
  }

  // Distinct steps with a look-up, in order.
  get searches() {
    const { step, purpose } = this.head.spent;
    return [...new Set(step.filter((_, at) => purpose[at] === "search"))];
  }

  action(step) {
    const known = this.head.actions;
    return step < this.last ? known.names[known.of[step]] : "";
  }

  get chunkCount() {
    return Math.floor(this.last / this.head.chunk) + 1;
  }

  chunk(number) {
    let found = this.chunks.get(number);
    if (found) {
      this.chunks.delete(number); // re-inserted at the end: the least recently used chunk is evicted first
    } else {
      found = readDocument(`${this.place}/${number}`).then(prepared);
      found.catch(() => this.chunks.delete(number));
      if (this.chunks.size >= KEPT_CHUNKS) this.chunks.delete(this.chunks.keys().next().value);
    }
    this.chunks.set(number, found);
    return found;
  }

  async moment(at) {
    const chunk = await this.chunk(Math.floor(at / this.head.chunk));
    const place = at - chunk.at;
    return {
      at,
      screen: chunk.looks[place] || chunk.looks[chunk.looks.length - 1],
      line: chunk.lines[place] || "",
      message: (chunk.heard || [])[place] || "",
      carried: carriedAt(chunk, place),
      step: chunk.steps[place] || null,
      said: chunk.steps[place] ? chunk.steps[place].said || [] : chunk.open || [],
    };
  }

  // The entry with this number of a table ("messages", "passages", "pictures"), from the chunk that contains it.
  async entry(table, number) {
    const firsts = this.head.firsts[table];
    let low = 0;
    let high = firsts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (firsts[middle] <= number) low = middle;
      else high = middle - 1;
    }
    while (low > 0 && firsts[low] > number) low--;
    return (await this.chunk(low))[table][number - firsts[low]];
  }

  async prompt(call) {
    const numbers = [];
    let number = 0;
    for (const by of call.ask || []) numbers.push((number += by));
    const found = await Promise.all(numbers.map((each) => this.entry("messages", each)));
    return found.map(([role, text, pictures], place) => ({ id: numbers[place], role, text, pictures: pictures || [] }));
  }

  async passages(search) {
    return Promise.all(search.found.map(async ([number, score]) => {
      const [id, title, text, url, source, licence] = await this.entry("passages", number);
      return { id, title, text, url, source, licence, score };
    }));
  }
}

// The number of the inventory at a moment; between the presses of a program it is that of the last screen.
function carriedAt(chunk, place) {
  const known = chunk.carried || [];
  for (let at = Math.min(place, known.length - 1); at >= 0; at--) if (known[at] >= 0) return known[at];
  return -1;
}

// Every screen of a chunk, rebuilt from the first one and the changes; unchanged rows are shared.
function prepared(chunk) {
  chunk.looks = [];
  let look = null;
  for (const [change, cursor, picture] of chunk.screens) {
    look = look === null ? { rows: change.rows, colours: change.colours } : changed(look, change);
    look = { ...look, cursor, picture };
    chunk.looks.push(look);
  }
  return chunk;
}

function changed(look, changes) {
  if (!changes.length) return look;
  const rows = look.rows.slice();
  const colours = look.colours.slice();
  for (const [row, start, dropped, text, colour] of changes) {
    if (row < 0) return { rows: text, colours: colour || [] };
    rows[row] = rows[row].slice(0, start) + text + rows[row].slice(start + dropped);
    if (colours.length) colours[row] = colours[row].slice(0, start) + (colour || "") + colours[row].slice(start + dropped);
  }
  return { rows, colours };
}

// Costs of calls: by purpose at each step, and the running total.
function cumulated(head) {
  const spent = head.spent;
  const size = head.steps + 1;
  const made = { tokens: new Float64Array(size), dollars: new Float64Array(size), seconds: new Float64Array(size), rows: new Map(), unknown: 0 };
  for (let at = 0; at < spent.step.length; at++) {
    const step = Math.min(spent.step[at], size - 1);
    made.tokens[step] += spent.input[at] + spent.output[at];
    made.dollars[step] += spent.dollars[at] || 0;
    made.seconds[step] += spent.seconds[at];
    if (spent.dollars[at] === null) made.unknown++;
    if (!made.rows.has(step)) made.rows.set(step, []);
    made.rows.get(step).push(at);
  }
  for (const name of ["tokens", "dollars", "seconds"])
    for (let at = 1; at < size; at++) made[name][at] += made[name][at - 1];
  return made;
}
