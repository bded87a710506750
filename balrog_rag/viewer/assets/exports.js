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
