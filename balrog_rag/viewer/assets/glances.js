// Parts of a run's page below its map: the passages that were always the same, where arms part, deaths.

const CARDS = 6; // deaths per cause shown at first
const SHOWN_PAIRS = 12;
const BEFORE_THE_END = 20; // steps before a death that its card shows, and that the key e goes back

function drawSame(same) {
  return same.map((each) => h("p", { class: "same" }, same.length > 1 ? `${visible(each.run)}: ` : "", "The same ", each.titles.length === 1 ? "passage" : `${each.titles.length} passages`, " at ",
    h("strong", {}, `${count(each.most)} of ${plural(each.shown, "step")}`), ` with passages in the prompt (${plural(each.sets, "different set")}): `,
    h("span", { class: "soft", dir: "auto" }, each.titles.map((title) => visible(title)).join("; "))));
}

// Pairs of episodes of the same game, the one whose parting made the largest difference first.
function drawPartings(app, traces) {
  if (!traces.pairs.length) return null;
  const rows = app.run.episodes;
  const body = traces.pairs.map((pair) => () => {
    const [one, other] = pair.episodes.map((place) => rows[place]);
    const address = "#" + app.compared([one.key, other.key], pair.step === null ? {} : { step: pair.step });
    const way = h("a", { href: address, dir: "auto" }, visible(`${one.run}, ${other.run}: ${one.name}`));
    const parted = pair.step === null ? "no action differs" : [`step ${count(pair.step)}: `, h("strong", { dir: "auto" }, visible(pair.actions[0] || "(ended)")), " or ", h("strong", { dir: "auto" }, visible(pair.actions[1] || "(ended)"))];
    return h("tr", {}, h("th", { scope: "row", class: "words" }, way), h("td", { class: "words" }, parted), h("td", {}, signed(pair.cost)),
      h("td", { class: "words" }, drawPair(traces, pair, rows)));
  });
  const box = h("tbody", {}, body.slice(0, SHOWN_PAIRS).map((draw) => draw()));
  const more = body.length > SHOWN_PAIRS ? h("button", { type: "button", onclick: () => { fill(box, body.map((draw) => draw())); more.remove(); } }, `Show all ${count(body.length)} pairs`) : null;
  return [h("p", { class: "soft" }, "Games that two runs played from the same seeds, by the difference in progression (second minus first, in points)."),
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Where arms part" }, h("table", { class: "pairs" }, h("thead", {}, h("tr", {}, [["game", true], ["first different action", true], ["difference", false], ["both curves", true]].map(([name, words]) => h("th", { scope: "col", class: words ? "words" : "" }, name)))), box)), more];
}

function signed(value) {
  return `${value > 0 ? "+" : value < 0 ? "\u2212" : ""}${Math.abs(value).toFixed(2)}`;
}

function drawPair(traces, pair, rows) {
  const found = pair.episodes.map((place) => traces.of[place]);
  const axes = traces.axes[found[0].env];
  const axis = axes.heights.find((each) => each.name === axes.first) || axes.heights[0];
  const runs = [...new Set(rows.map((row) => row.run))];
  const lines = found.map((trace, each) => ({ at: trace.at, values: trace.heights[axis.name], colour: runs.indexOf(rows[pair.episodes[each]].run) % RUN_COLOURS }));
  return smallChart(lines, { down: axis.down, low: axis.low || 0, at: pair.step, words: `${axis.title} of both over steps` });
}

// Where a step is in a small chart.
function chartPlace(step, longest, width) {
  return ((Math.min(step, longest) / Math.max(1, longest)) * (width - 4) + 2).toFixed(1);
}

// Two or more curves on one axis, with an upright line where they part.
function smallChart(lines, { down, low, high, at, now, words, width = 220, height = 56 }) {
  const longest = Math.max(1, ...lines.map((line) => line.at[line.at.length - 1]));
  const top = high || Math.max(low + 1, ...lines.map((line) => line.values.reduce((most, value) => Math.max(most, value), 0)));
  const x = (step) => chartPlace(step, longest, width);
  const y = (value) => { const share = (value - low) / (top - low); return (3 + (down ? share : 1 - share) * (height - 6)).toFixed(1); };
  const paths = lines.map((line, place) => drawn("path", { class: `run${line.colour} ${place ? "second" : "first"}`, d: line.values.map((value, each) => (each ? `H${x(line.at[each])}V${y(value)}` : `M${x(line.at[0])} ${y(value)}`)).join("") }));
  return drawn("svg", { class: "small drawn", width, height, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": words },
    drawn("line", { class: "grid", x1: 0, x2: width, y1: down ? 2 : height - 2, y2: down ? 2 : height - 2 }), at === null || at === undefined ? null : drawn("line", { class: "parting", x1: x(at), x2: x(at), y1: 0, y2: height }), now ? drawn("line", { class: "now", x1: x(0), x2: x(0), y1: 0, y2: height }) : null, paths);
}

// Cards of deaths by cause, each with the last steps; the passages that prevent such a death are beside it.
function drawDeaths(app, traces) {
  const groups = new Map();
  app.run.episodes.forEach((row, place) => {
    if (row.state !== "ended" || !isDeath(row)) return;
    const cause = row.cause || "unknown cause";
    if (!groups.has(cause)) groups.set(cause, []);
    groups.get(cause).push([row, place]);
  });
  if (!groups.size) return null;
  const made = [...groups].sort((a, b) => b[1].length - a[1].length).map(([cause, found]) => drawCause(app, traces, cause, found));
  return [h("p", { class: "soft" }, "The last steps of each, coloured by health. In an episode, the key ", h("kbd", {}, "e"), ` goes to ${BEFORE_THE_END} steps before its end.`), made];
}

function drawCause(app, traces, cause, found) {
  const cards = h("ul", { class: "cards" }, found.slice(0, CARDS).map(([row, place]) => drawCard(app, traces.of[place], row)));
  const more = found.length > CARDS ? h("button", { type: "button", onclick: () => { fill(cards, found.map(([row, place]) => drawCard(app, traces.of[place], row))); more.remove(); } }, `Show all ${count(found.length)}`) : null;
  const saving = (traces.saving || {})[cause] || [];
  return h("section", { class: "cause" }, h("h3", {}, visible(cause), h("span", { class: "soft" }, ` ${count(found.length)}${found[0][0].preventable ? ", preventable by a passage read in time" : ""}`)),
    saving.length ? h("div", { class: "saving" }, h("p", { class: "soft" }, "What would have prevented it, from the bundled guide:"), saving.map(([title, text]) => h("details", {}, h("summary", { dir: "auto" }, visible(title)), textBlock(text, "passage")))) : null, cards, more);
}

function drawCard(app, trace, row) {
  const steps = trace ? trace.last.map((action, each) => ({ action, at: row.steps - trace.last.length + each })) : [];
  const cells = steps.map(({ action, at }) => {
    const health = healthAt(trace, at);
    const cell = h("a", { href: "#" + app.hash({ episode: row.key, step: at }), class: `cell ${health > 66 ? "well" : health > 33 ? "hurt" : "dying"}`, title: `step ${at}: ${visible(action)}, health ${Math.round(health)} %` }, clipped(visible(action), 24));
    return cell;
  });
  return h("li", { class: "card" }, h("p", {}, h("a", { href: "#" + app.hash({ episode: row.key, step: row.steps }), dir: "auto" }, breakable(row.key))), row.how ? h("p", { dir: "auto" }, visible(row.how)) : null,
    h("p", { class: "soft" }, `${row.progression.toFixed(2)} %, ${plural(row.steps, "step")}`), h("p", { class: "strip" }, cells));
}

function healthAt(trace, at) {
  return trace.health[Math.max(0, indexBelow(trace.at, at))];
}
