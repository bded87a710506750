// The head of a run's page: mean with interval, outcomes as a bar, deaths by cause, costs, settings that matter.

const WORDS = {
  died: "died", ascended: "ascended", escaped: "left the dungeon", quit: "quit", solved: "solved", failed: "not solved", steps: "step limit", no_progress: "no game time passed",
  tokens: "token limit", dollars: "dollar limit", seconds: "time limit", given_up: "given up", crashed: "program crashed", timed_out: "program too slow", recorded: "recorded",
};
const OUTCOME_LOOKS = { solved: "good", ascended: "good", died: "bad", failed: "bad", crashed: "bad", timed_out: "bad", open: "open" }; // others are plain

function outcomeWords(outcome) {
  return WORDS[outcome] || visible(outcome || "unknown");
}

function counted(values) {
  const found = new Map();
  for (const value of values) if (value) found.set(value, (found.get(value) || 0) + 1);
  return [...found].sort((a, b) => b[1] - a[1]);
}

function sumOf(rows, name) {
  return rows.reduce((sum, row) => sum + (row[name] || 0), 0);
}

// One card per run folder; episodes without a run share one.
function drawHeads(run, notes) {
  const groups = new Map();
  for (const row of run.episodes) {
    const name = row.run || "";
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(row);
  }
  return [...groups].map(([name, rows], place) => drawHead(name, rows, notes, run.heads.find((head) => head.run === name), groups.size > 1 ? place : null));
}

function drawHead(name, rows, notes, head, place) {
  const means = head ? head.means : [];
  const outcomes = counted(rows.map((row) => (row.state === "ended" ? row.outcome : row.state)));
  return h("section", { class: "head", "aria-label": name || "episodes" },
    place === null ? null : h("h2", { dir: "auto" }, runSwatch(place), visible(name || "episodes")),
    h("div", { class: means.length > 1 ? "means" : "" }, means.length > 1 ? h("p", { class: "mean soft" }, h("span", {}, "Mean progression"), h("span", {}, " 95 % CI")) : null, means.map((mean) => drawMean(mean, means.length > 1))),
    outcomeBar(outcomes), drawTotals(rows, notes), drawSettings(head));
}

function runSwatch(place) {
  const swatch = drawn("svg", { class: "swatch drawn", viewBox: "0 0 14 14", "aria-hidden": "true" }, drawn("rect", { width: 14, height: 14, rx: 3, class: `run${place % RUN_COLOURS}` }));
  return [swatch, " "];
}

function drawMean(mean, several) {
  const known = mean.low !== undefined && mean.low !== null;
  const said = known ? ` ${mean.low.toFixed(2)} to ${mean.high.toFixed(2)} (95 % CI)` : mean.partial ? " of ended episodes; no interval while the run is incomplete" : mean.n > 1 ? " (all alike)" : "";
  if (several) return h("p", { class: "mean" }, h("span", { class: "soft" }, `${visible(mean.title)} `), h("strong", {}, `${mean.mean.toFixed(2)} %`), h("span", { class: "soft" }, known ? ` ${mean.low.toFixed(2)}\u2013${mean.high.toFixed(2)}` : said || " "), h("span", { class: "soft" }, ` n = ${count(mean.n)}`));
  return h("p", { class: "mean" }, h("strong", {}, `${mean.mean.toFixed(2)} %`), h("span", { class: "soft" }, `${said}, `, h("span", { class: "whole" }, `n = ${count(mean.n)}`)));
}

function outcomeBar(outcomes) {
  const words = outcomes.map(([name, number]) => `${outcomeWords(name)} ${count(number)}`);
  const bar = h("div", { class: "outcomes", role: "img", "aria-label": words.join(", ") },
    outcomes.map(([name, number], place) => {
      const part = h("span", { class: OUTCOME_LOOKS[name] || "plain", title: words[place] });
      part.style.flexGrow = number;
      return part;
    }));
  return [bar, h("p", { class: "ends", "aria-hidden": "true" }, outcomes.map(([name], place) => h("span", { class: OUTCOME_LOOKS[name] || "plain" }, words[place])))];
}

function drawTotals(rows, notes) {
  const ended = rows.filter((row) => row.steps !== undefined && row.steps !== null);
  const asked = ended.filter((row) => row.tokens);
  const unpriced = sumOf(ended, "unpriced");
  const causes = (rows) => counted(rows.map((row) => row.cause)).map(([cause, number]) => `${visible(cause)} ${number}`);
  const dead = ended.filter(isDeath);
  const unknown = dead.filter((row) => !row.cause).length;
  const deaths = causes(dead);
  if (deaths.length && unknown) deaths.push(`unknown ${unknown}`);
  const lines = [["Deaths by cause", deaths.join(", ")], ["Other ends", causes(ended.filter((row) => !isDeath(row))).join(", ")]];
  const facts = [
    [plural(rows.length, "episode"), null],
    [`${count(sumOf(ended, "steps"))} steps`, null],
    asked.length ? [`${short(sumOf(asked, "tokens"))} tokens`, null] : null,
    asked.length ? [dollars(sumOf(asked, "dollars"), unpriced), null] : null,
    ...counted(rows.flatMap((row) => notes.labels(row.key))).map(([label, number]) => [`${visible(label)}: ${number}`, null]),
  ];
  return [h("ul", { class: "chips" }, facts.filter(Boolean).map(([words]) => h("li", {}, words))),
    lines.filter(([, words]) => words).map(([title, words]) => h("p", { class: "causes soft" }, `${title}: ${words}`))];
}

function drawSettings(head) {
  if (!head || !head.settings.length) return null;
  return h("details", { class: "settings" }, h("summary", {}, "Settings"), h("dl", {}, head.settings.map(([name, value]) => [h("dt", {}, visible(name)), h("dd", { dir: "auto" }, visible(value))])));
}
