// The model's input and output at a step: decision, calls, searches, prompts, costs.

const PURPOSES = { act: "action", query: "query", summary: "summary", rerank: "reranking", search: "search", other: "other" };
const READ = { strict: "matched exactly", lenient: "matched leniently", none: "without a valid action" };
const LOOKUPS = { fresh: "from a new look-up", reused: "reused from an earlier look-up", kept: "kept from an earlier step", "no label": "none: the model named no query", "no query": "none: the query was empty", "no passages": "none found", "too long": "not shown: their summary was too long", "no summary": "not shown: their summary was empty" };

const OUTCOMES = {
  steps: "The limit on steps or key presses was reached.", no_progress: "Too many key presses passed without game time.", failed: "The task was not completed.",
  tokens: "The cap on tokens was reached.", dollars: "The cap on dollars was reached.", seconds: "The cap on time was reached.",
  crashed: "The playing program failed.", timed_out: "The playing program took too long for one action.",
};

function chips(facts) {
  return h("ul", { class: "chips" }, facts.filter(Boolean).map((fact) => h("li", {}, visible(fact))));
}

function section(title, ...children) {
  return h("section", { class: "part" }, h("h3", {}, title), ...children);
}

// The decision, then the calls and searches that led to it, in order.
async function drawStep(box, episode, moment, state) {
  const [passages, carried] = await Promise.all([Promise.all(moment.said.map((said) => ("query" in said ? episode.passages(said) : null))), drawCarried(episode, moment)]);
  if (state.at !== moment.at) return;
  const calls = moment.said.map((said, place) => ("query" in said ? drawSearch(said, passages[place], episode, moment, state, summaryAfter(moment.said, place)) : drawCall(said, place, state)));
  fill(box, drawDecision(episode, moment, state), calls, carried, moment.said.length || !moment.step ? null : h("p", { class: "soft" }, episode.head.without || "No model was asked at this step."),
    moment.step ? null : drawLasts(state), moment.said.length ? null : drawAround(episode, moment.at, state));
}

// The inventory, as the difference from the previous step, and in full.
async function drawCarried(episode, moment) {
  if (moment.carried < 0) return null;
  const before = moment.at ? (await episode.moment(moment.at - 1)).carried : moment.carried;
  const now = await episode.entry("inventories", moment.carried);
  const lines = before >= 0 && before !== moment.carried ? lineDifference(await episode.entry("inventories", before), now).filter(([sign]) => sign !== " ") : [];
  const block = h("pre", { class: "text lines", dir: "auto", tabindex: "0" }, lines.map(([sign, line]) => h("span", { class: sign === "+" ? "added" : "gone" }, `${sign} ${visible(line)}\n`)));
  return section("Inventory", lines.length ? block : null, h("details", { class: "carried" }, h("summary", {}, lines.length ? "All of it" : "Unchanged: show it"), textBlock(now)));
}

const BESIDE = 14; // steps before and after

// The actions before and after a step, as context for steps such as single keys.
function drawAround(episode, at, state) {
  const first = Math.max(0, at - BESIDE);
  const actions = Array.from({ length: Math.min(episode.last, at + BESIDE + 1) - first }, (_, place) => first + place);
  if (actions.length < 2 || !state.seek) return null;
  return section(at < episode.last ? "Actions before and after" : "Last actions",
    h("p", { class: "around" }, actions.map((step) => h("button", { type: "button", title: `step ${step}`, "aria-current": step === at ? "step" : null, onclick: () => state.seek(step) }, visible(episode.action(step))))));
}

// The last mark of each kind, which may explain how the episode ended.
function drawLasts(state) {
  if (!state.everyMark) return null;
  const last = new Map(state.everyMark.filter(([, kind]) => kind !== "end" && kind !== "cap").map((mark) => [mark[1], mark]));
  if (!last.size) return null;
  const rows = [...last.values()].sort((a, b) => b[0] - a[0]).map(([at, kind, words]) => h("li", {}, h("button", { type: "button", class: "link", onclick: () => state.seek(at) },
    markIcon(kind), h("span", { class: "number" }, count(at)), h("span", { dir: "auto" }, [...new Set([state.app.run.titles[kind], visible(words)])].join(": ")))));
  return section("Last mark of each kind before the end", h("ol", { class: "marks" }, rows));
}

function drawDecision(episode, moment, state) {
  const step = moment.step;
  if (!step) return drawEnd(episode, moment);
  const notes = step.notes || {};
  const facts = [
    step.player ? `played by ${step.player}` : null,
    notes.read ? `answer ${READ[notes.read] || notes.read}` : null,
    notes.lookup ? `passages ${LOOKUPS[notes.lookup] || notes.lookup}` : null,
    ...Object.entries(notes).filter(([name]) => name !== "read" && name !== "lookup").map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`),
    step.reward ? `reward ${step.reward}` : null,
    step.keys !== undefined ? `${count(step.keys)} key presses` : null,
    step.stopped ? `stopped: ${step.stopped}` : null,
  ];
  const asked = state.retrieval.get(moment.at);
  return h("section", { class: "decision" },
    h("p", { class: "action" }, h("span", { class: "soft" }, `step ${moment.at}`), " ", h("strong", { dir: "auto" }, visible(step.do))),
    "asked" in step ? h("p", { class: "warning" }, "The answer did not contain a valid action: ", h("q", { dir: "auto" }, visible(step.asked)), `; the default action was taken.`) : null,
    step.reasoning ? textBlock(step.reasoning, "thought") : null,
    asked ? drawAsked(asked) : null,
    episode.head.names ? drawNames(episode, moment, state) : null,
    chips(facts));
}

// In a renamed world the model reads invented names; this shows either language.
function drawNames(episode, moment, state) {
  const switched = () => { showNames(original ? null : episode.head.names); state.seek(moment.at); };
  return h("button", { type: "button", class: "link", id: "names", "aria-pressed": Boolean(original), onclick: switched }, original ? "show the invented names" : "show the original names");
}

function drawAsked(asked) {
  const changed = asked.without !== asked.action;
  const noisy = asked.again !== asked.action;
  return h("p", { class: "retrieval" + (changed ? " changed" : "") },
    changed ? "Without passages the model chooses " : "Without passages the model chooses the same action, ",
    h("strong", { dir: "auto" }, visible(asked.without)),
    noisy ? ["; asked again with them, ", h("strong", { dir: "auto" }, visible(asked.again)), ": its answers also vary by chance."] : "; asked again with them, it repeats the action.");
}

function drawEnd(episode, moment) {
  const { outcome, how, done, failure } = episode.head;
  if (failure) return h("section", { class: "decision" }, h("p", { class: "warning" }, "The journal could only be replayed up to here: ", visible(failure)));
  if (!outcome) return h("section", { class: "decision" }, h("p", {}, done ? "The journal ends here; the episode has not ended." : "Waiting for the next step."));
  return h("section", { class: "decision" },
    h("p", { class: "action" }, h("span", { class: "soft" }, `after ${plural(moment.at, "step")}`), " ", h("strong", {}, outcomeWords(outcome))),
    how || OUTCOMES[outcome] ? h("p", { dir: "auto" }, visible(how || OUTCOMES[outcome])) : null,
    episode.row.cause ? chips([`cause: ${episode.row.cause}`]) : null);
}

function drawCall(call, place, state) {
  const tokens = call.tokens || [0, 0, 0, 0], counted = tokens[0] + tokens[1] > 0;
  const facts = [
    call.model,
    counted ? `${short(tokens[0])} tokens in` : "tokens unknown",
    tokens[2] ? `${short(tokens[2])} of them cached` : null,
    counted ? `${short(tokens[1])} out` : null,
    tokens[3] ? `${short(tokens[3])} of them reasoning` : null,
    "cost" in call ? dollars(call.cost) : null,
    call.seconds ? seconds(call.seconds) : null,
    call.tries ? `${call.tries} attempts` : null,
    call.finish ? `ended: ${call.finish}` : null,
    call.trimmed ? `${plural(call.trimmed, "old turn")} dropped` : null,
  ];
  const prompt = call.ask ? h("button", { type: "button", class: "link", onclick: () => state.openPrompt(place) }, `Show the prompt (${plural(call.ask.length, "message")})`) : null;
  return section(`Call for the ${PURPOSES[call.for] || call.for}`,
    call.thought ? h("details", { class: "thought", open: true }, h("summary", {}, "Reasoning"), textBlock(call.thought)) : null,
    "cost" in call || call.text || call.calls ? textBlock(call.text || (call.calls ? "(no text beside the tool calls)" : "(an empty answer)"), "answer") : h("p", { class: "soft" }, "No answer yet."),
    (call.calls || []).map(([name, given]) => h("div", { class: "toolcall" }, h("span", { class: "soft" }, "Tool call "), h("code", { dir: "auto" }, visible(name)), textBlock(given, "answer"))),
    "cost" in call ? chips(facts) : null, prompt);
}

// The summary that was made of a search's passages; empty if there is none.
function summaryAfter(said, place) {
  const next = said.slice(place + 1).find((each) => "query" in each || each.for === "summary");
  return next && next.for === "summary" ? next.text || "" : "";
}

const FEWEST_SHARED = 2; // words that a sentence shares with a passage before it counts as led to by it

// The sentence of a summary that shares most words with a passage; null if none shares enough.
function sentenceOf(summary, passage) {
  const words = (text) => new Set((text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) || []));
  const known = words(`${passage.title} ${passage.text}`);
  let best = null;
  let most = FEWEST_SHARED - 1;
  for (const sentence of summary.split(/(?<=[.!?])\s+|\n+/).slice(0, 200)) {
    const shared = [...words(sentence)].filter((word) => known.has(word)).length;
    if (shared > most) [best, most] = [sentence.trim(), shared];
  }
  return best;
}

function drawLed(summary, passage) {
  const sentence = summary && sentenceOf(summary, passage);
  return sentence ? h("p", { class: "led" }, h("span", { class: "soft" }, "Nearest sentence of the summary: "), h("q", { dir: "auto" }, visible(sentence))) : null;
}

function drawSearch(search, passages, episode, moment, state, summary) {
  const best = Math.max(...passages.map((passage) => passage.score), 0);
  const rows = passages.map((passage, place) => h("li", {},
    h("details", { open: place === 0 },
      h("summary", {}, scoreBar(passage.score, best), h("span", { class: "score" }, passage.score.toFixed(3)), " ", h("span", { dir: "auto" }, visible(passage.title)), h("span", { class: "old" }, seenWords(episode.firstSeen(search.found[place][0]), moment)),
        h("span", { class: "soft" }, " ", visible([passage.source, passage.id].filter(Boolean).join(" \u00b7 ")))),
      seenBefore(episode.firstSeen(search.found[place][0]), moment, state), textBlock(passage.text, "passage"), drawLed(summary, passage),
      h("p", { class: "soft" }, passage.url ? address(passage.url) : null, passage.licence ? ` licence: ${visible(passage.licence)}` : null))));
  return section("Search",
    h("p", { class: "query" }, h("q", { dir: "auto" }, visible(search.query))),
    rows.length ? h("ol", { class: "passages" }, rows) : h("p", { class: "soft" }, "No passages found."),
    chips([search.seconds ? seconds(search.seconds) : null]));
}

function scoreBar(score, best) {
  const bar = h("span", { class: "bar-score", "aria-hidden": "true" });
  bar.style.width = `${best > 0 ? Math.max(2, Math.round((60 * score) / best)) : 2}px`;
  return bar;
}

// Whether the model could have read a passage before.
function seenWords(first, moment) {
  return first === undefined || first >= moment.at ? " new " : ` seen at step ${count(first)} `;
}

function seenBefore(first, moment, state) {
  if (first === undefined || first >= moment.at || !state.app) return null;
  return h("button", { type: "button", class: "link old", onclick: () => state.app.go(state.episode.key, first) }, `Go to step ${count(first)}, which found it first`);
}

// The prompt of one call, in full or compared with the previous one for the same purpose.
async function drawPrompt(box, episode, moment, state) {
  const calls = moment.said.map((said, place) => [said, place]).filter(([said]) => said.ask);
  if (!calls.length) return fill(box, h("p", { class: "soft" }, episode.head.without || "No model was asked at this step."));
  const [call, place] = calls.find(([, each]) => each === state.call) || calls[calls.length - 1];
  const [now, before] = await Promise.all([episode.prompt(call), earlierPrompt(episode, moment, call)]);
  if (state.at !== moment.at) return;
  const choose = h("div", { class: "choices", role: "group", "aria-label": "Which prompt" },
    calls.map(([said, each]) => h("button", { type: "button", "aria-pressed": each === place, onclick: () => { state.call = each; state.redraw(); } }, PURPOSES[said.for] || said.for)),
    h("label", {}, h("input", { type: "checkbox", checked: state.whole, onchange: (event) => { state.whole = event.target.checked; state.redraw(); } }), " full text"),
    h("button", { type: "button", onclick: () => copy(now.map((message) => `[${message.role}]\n${message.text}`).join("\n\n"), "Prompt") }, "Copy"));
  const parts = promptDifference(before || [], now);
  fill(box, choose, before ? cacheLine(before, now, parts) : h("p", { class: "soft" }, "The first prompt for this purpose."),
    grouped(parts, state.whole || !before).map((group) => (group[0].how !== "new" && group.length > 2 && !state.whole ? drawGroup(group, episode) : group.map((part) => drawMessage(part, episode, state.whole || !before)))));
}

// Messages that are unchanged from the previous prompt; consecutive ones are folded together.
function grouped(parts, whole) {
  if (whole) return [parts];
  const groups = [];
  for (const part of parts) {
    const last = groups[groups.length - 1];
    if (part.how !== "new" && last && last[0].how === part.how) last.push(part);
    else groups.push([part]);
  }
  return groups;
}

function drawGroup(group, episode) {
  const size = group.reduce((sum, part) => sum + part.message.text.length, 0);
  const words = group[0].how === "head" ? "unchanged" : "also in the previous prompt";
  const inside = h("div", { class: "inside" });
  const folded = h("details", { class: `message ${group[0].how}` }, h("summary", {}, h("span", { class: "role" }, plural(group.length, "message")), h("span", { class: "soft" }, ` ${count(size)} characters, ${words}`)), inside);
  folded.addEventListener("toggle", () => { if (folded.open && !inside.firstChild) fill(inside, group.map((part) => drawMessage(part, episode, false))); });
  return folded;
}

async function earlierPrompt(episode, moment, call) {
  for (let at = moment.at - 1; at >= Math.max(0, moment.at - 40); at--) {
    const found = (await episode.moment(at)).said.filter((said) => said.ask && said.for === call.for);
    if (found.length) return episode.prompt(found[found.length - 1]);
  }
  return null;
}

function cacheLine(before, now, parts) {
  let same = 0;
  let all = 0;
  for (const part of parts) {
    all += part.message.text.length;
    if (part.how === "head") same += part.message.text.length;
    else if (part.first) same += commonStart(before[parts.indexOf(part)]?.text || "", part.message.text);
  }
  const first = parts.find((part) => part.how !== "head");
  if (first) first.start = commonStart(before[parts.indexOf(first)]?.text || "", first.message.text);
  return h("p", { class: "soft" }, `${count(all)} characters. The first ${count(same)} (${all ? Math.round((100 * same) / all) : 0} %) are the same as in the previous prompt, so a provider's cache can reuse them (shaded).`);
}

function drawMessage(part, episode, whole) {
  const { message, how } = part;
  const pictures = message.pictures.map((number) => {
    const image = h("img", { class: "picture", alt: "an image in the prompt" });
    episode.entry("pictures", number).then((data) => { image.src = "data:image/png;base64," + data; });
    return image;
  });
  const title = h("span", { class: "role" }, message.role);
  const words = { head: "unchanged", known: "also in the previous prompt", new: "new" }[how];
  const size = h("span", { class: "soft" }, ` ${count(message.text.length)} characters, ${words}`);
  if (how === "new" || whole)
    return h("article", { class: `message ${how}` }, h("header", {}, title, size), how === "new" && !whole ? changedText(part) : shadedText(part), pictures);
  return h("details", { class: `message ${how}` }, h("summary", {}, title, size, " ", h("span", { class: "soft start", dir: "auto" }, visible(message.text.slice(0, 80).replace(/\s+/g, " ")))),
    textBlock(message.text), pictures);
}

function shadedText(part) {
  if (!part.start || part.message.text.length > LONGEST) return textBlock(part.message.text, part.how === "head" ? "cached" : "");
  const text = part.message.text;
  return h("pre", { class: "text", dir: "auto", tabindex: "0" }, h("span", { class: "cached" }, visible(text.slice(0, part.start))), visible(text.slice(part.start)));
}

function changedText(part) {
  if (!part.counterpart) return shadedText(part);
  const lines = lineDifference(part.counterpart.text, part.message.text);
  const block = h("pre", { class: "text lines", dir: "auto", tabindex: "0" });
  for (const [sign, line] of lines) {
    const shown = line.length > LONGEST ? line.slice(0, LONGEST) + "\u2026" : line;
    block.append(h("span", { class: { "+": "added", "-": "gone", " ": "kept" }[sign] }, `${sign} ${visible(shown)}\n`));
  }
  return block;
}

// Tokens, dollars and seconds by purpose: for this step, and in total up to it.
function drawCosts(box, episode, moment) {
  const spent = episode.head.spent;
  const table = new Map();
  for (let at = 0; at < spent.step.length && spent.step[at] <= moment.at; at++) {
    const row = table.get(spent.purpose[at]) || { now: [0, 0, 0, 0, 0], all: [0, 0, 0, 0, 0], unknown: 0 };
    table.set(spent.purpose[at], row);
    const figures = [1, spent.input[at] + spent.output[at], spent.cached[at], spent.dollars[at] || 0, spent.seconds[at]];
    if (spent.dollars[at] === null) row.unknown++;
    figures.forEach((figure, place) => {
      row.all[place] += figure;
      if (spent.step[at] === moment.at) row.now[place] += figure;
    });
  }
  if (!table.size) return fill(box, h("p", { class: "soft" }, episode.head.without || "No model was asked up to this step."));
  const sums = { now: [0, 0, 0, 0, 0], all: [0, 0, 0, 0, 0], unknown: 0 };
  for (const row of table.values()) {
    row.now.forEach((figure, place) => { sums.now[place] += figure; });
    row.all.forEach((figure, place) => { sums.all[place] += figure; });
    sums.unknown += row.unknown;
  }
  return fill(box, costTable("This step", table, sums, "now"), costTable("So far", table, sums, "all"),
    sums.unknown ? h("p", { class: "soft" }, "+? marks a sum without calls of unknown price.") : null);
}

function costTable(title, table, sums, which) {
  const row = (name, figures) => h("tr", {}, h("th", { scope: "row" }, name), costCells(figures[which], which === "all" && figures.unknown));
  return section(title, h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" }, h("table", { class: "figures" },
    h("thead", {}, h("tr", {}, ["for", "calls", "tokens", "cached", "dollars", "seconds"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, [...table].map(([purpose, figures]) => row(PURPOSES[purpose] || purpose, figures))),
    h("tfoot", {}, row("all", sums)))));
}

function costCells(row, unknown) {
  const [calls, tokens, cached, spent, waited] = row;
  return [count(calls), short(tokens), short(cached), dollars(spent, unknown), waited.toFixed(2)].map((text) => h("td", {}, calls ? text : ""));
}
