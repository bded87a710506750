// A step as Markdown, for bug reports: screen, passages, answers and action.

async function stepAsMarkdown(episode, moment) {
  const parts = [`### ${oneLine(episode.key)}, step ${moment.at}`, fenced(moment.screen.rows.map((row) => row.trimEnd()).join("\n"))];
  for (const said of moment.said) {
    if ("query" in said) {
      const found = await episode.passages(said);
      parts.push("Search:", fenced(said.query), ...found.map((passage) => `- ${passage.score.toFixed(3)} ${oneLine(passage.title)} (${oneLine(passage.id)})`));
    } else parts.push(`Answer for the ${PURPOSES[said.for] || said.for}:`, fenced(said.text || ""));
  }
  if (moment.step) parts.push("Action:", fenced(moment.step.do + ("asked" in moment.step ? ` (the answer was ${moment.step.asked})` : "")));
  return parts.join("\n\n") + "\n";
}

// A code fence that the text cannot close.
function fenced(text) {
  const shown = visible(text);
  const longest = Math.max(2, ...(shown.match(/`+/g) || []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${shown}\n${fence}`;
}

function oneLine(text) {
  return visible(text).replace(/\s+/g, " ").replace(/[\\`*_{}[\]<>#|@!]/g, "\\$&");
}

// A call of a step as a request that can be sent again; the key is named by its variable and never written.
function callSettings(episode, at) {
  const players = episode.head.players || [];
  const player = [...players].reverse().find((each) => each.from <= at) || {};
  const model = player.model || {};
  return { model, key: model.api_key_env || "OPENAI_API_KEY", base: (model.base_url || "https://api.openai.com/v1").replace(/\/+$/, "") };
}

async function callBody(episode, at, call) {
  const { model } = callSettings(episode, at);
  const messages = (await episode.prompt(call)).map(({ role, text }) => ({ role, content: text }));
  const body = { model: String(model.name || "").replace(/^(openai|hosted_vllm)\//, ""), messages };
  for (const name of ["temperature", "max_tokens", "seed", "reasoning_effort"]) if (model[name] !== null && model[name] !== undefined) body[name] = model[name];
  return body;
}

async function callAsCurl(episode, at, call) {
  const { key, base } = callSettings(episode, at);
  const body = JSON.stringify(await callBody(episode, at, call), null, 1).replace(/'/g, "'\\''");
  return `curl ${quoted(`${base}/chat/completions`)} -H "Authorization: Bearer $${variable(key)}" -H 'Content-Type: application/json' --data-binary '${body}'\n`;
}

async function callAsPython(episode, at, call) {
  const { key, base } = callSettings(episode, at);
  const body = JSON.stringify(JSON.stringify(await callBody(episode, at, call))).replace(/\u2028|\u2029/g, (sign) => "\\u" + sign.charCodeAt(0).toString(16));
  return `import json\nimport os\n\nfrom openai import OpenAI\n\nclient = OpenAI(base_url=${JSON.stringify(base)}, api_key=os.environ[${JSON.stringify(variable(key))}])\nreply = client.chat.completions.create(**json.loads(${body}))\nprint(reply.choices[0].message.content)\n`;
}

// A word for a POSIX shell.
function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replace(/'/g, "'\\''")}'`;
}

function variable(name) {
  return String(name).replace(/\W/g, "_");
}

function forkCommand(episode, at) {
  const journal = episode.head.journal || "JOURNAL";
  return `balrog-rag fork ${quoted(journal)} --at ${at} --out ${quoted(`results/fork-at-${at}`)}\n`;
}

// Everything that the page knows of an episode, step by step.
async function episodeAsJson(episode) {
  const { key, row, head } = episode;
  const steps = [];
  for (let at = 0; at <= episode.last; at++) {
    const moment = await episode.moment(at);
    steps.push({ step: at, screen: moment.screen.rows, status: moment.line, message: moment.message, action: moment.step ? moment.step.do : null, calls: await Promise.all(moment.said.map((said) => saidInFull(episode, said))) });
  }
  return { format: "balrog_rag viewer 1", episode: key, results: row, players: head.players, versions: head.versions, outcome: head.outcome, how: head.how, steps };
}

async function saidInFull(episode, said) {
  if ("query" in said) return { query: said.query, passages: await episode.passages(said) };
  const messages = (await episode.prompt(said)).map(({ role, text }) => ({ role, text }));
  return { for: said.for, messages, answer: said.text || "", reasoning: said.thought || "", tokens: said.tokens || null, dollars: said.cost ?? null };
}

// The Agent Trajectory Interchange Format, version 1.8: one agent step per decision, as `balrog-rag export` writes.
async function episodeAsAtif(episode) {
  const { key, head, row } = episode;
  const player = (head.players || []).slice(-1)[0] || {};
  const steps = [{ step_id: 1, source: "user", message: (await episode.moment(0)).screen.rows.join("\n") }];
  const totals = { total_prompt_tokens: 0, total_completion_tokens: 0, total_cached_tokens: 0 };
  for (let at = 0; at < episode.last; at++) {
    const [moment, after] = [await episode.moment(at), await episode.moment(at + 1)];
    const calls = [{ tool_call_id: `step-${at}`, function_name: "act", arguments: { action: moment.step.do } }];
    const results = [{ source_call_id: `step-${at}`, content: after.screen.rows.join("\n") }];
    const answers = moment.said.filter((said) => "for" in said);
    for (const [place, said] of moment.said.filter((each) => "query" in each).entries()) {
      calls.unshift({ tool_call_id: `search-${at}-${place}`, function_name: "search", arguments: { query: said.query } });
      results.unshift({ source_call_id: `search-${at}-${place}`, content: (await episode.passages(said)).map((each) => `${each.title}\n${each.text}`).join("\n\n") });
    }
    const acted = answers.filter((said) => said.for === "act").pop();
    const step = { step_id: at + 2, source: "agent", message: acted ? acted.text || "" : moment.step.reasoning || "", tool_calls: calls, observation: { results }, llm_call_count: answers.length };
    if (answers.length) step.metrics = metricsOf(answers, totals);
    steps.push(step);
  }
  return {
    schema_version: "ATIF-v1.8", trajectory_id: key, steps,
    agent: { name: String(row.agent || (player.agent || {}).name || "unknown"), version: String((head.versions || {}).balrog_rag || "unknown"), ...(row.model ? { model_name: String(row.model) } : {}) },
    final_metrics: { ...totals, total_steps: steps.length }, extra: { episode: key, outcome: head.outcome, how: head.how },
  };
}

function metricsOf(answers, totals) {
  const sum = (place) => answers.reduce((all, said) => all + (said.tokens ? said.tokens[place] : 0), 0);
  const made = { prompt_tokens: sum(0), completion_tokens: sum(1), cached_tokens: sum(2) };
  for (const [name, value] of Object.entries(made)) totals[`total_${name}`] += value;
  return made;
}
