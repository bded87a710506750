// The game's screen: rows of coloured text with a cursor, or an image.

function drawScreen(box, moment, episode) {
  const look = moment.screen;
  const pictured = look.picture !== null && look.picture !== undefined;
  if (pictured && (inTiles || !look.colours.length)) drawPicture(box, look, episode);
  else drawRows(box, look);
}

let inTiles = false; // whether maps with tiles are shown in them

function drawRows(box, look) {
  delete box.dataset.picture; // one that arrives later is not shown
  const coloured = look.colours.length > 0;
  const width = Math.max(1, ...look.rows.map((row) => row.length));
  const rows = h("pre", { class: "rows" + (coloured ? " coloured" : ""), "aria-label": "the game's screen" });
  rows.style.setProperty("--columns", Math.min(width, 120));
  look.rows.forEach((row, at) => {
    const cursor = look.cursor && look.cursor[0] === at ? look.cursor[1] : -1;
    if (at) rows.append("\n");
    if (coloured) appendRow(rows, row, look.colours[at], cursor);
    else rows.append(visible(row));
  });
  rows.append("\n"); // gives an empty last row its height
  fill(box, rows);
}

function appendRow(rows, row, colours, cursor) {
  let end = row.length;
  while (end > cursor + 1 && end > 0 && row[end - 1] === " ") end--;
  let start = 0;
  while (start < end) {
    let stop = start + 1;
    if (start !== cursor)
      while (stop < end && stop !== cursor && (colours[stop] === colours[start] || row[stop] === " ")) stop++;
    const part = visible(row.slice(start, stop));
    const colour = colours[start];
    if (start === cursor) rows.append(h("span", { class: `k${colour} cursor` }, part));
    else if (colour === "7" || part.trim() === "") rows.append(part);
    else rows.append(h("span", { class: "k" + colour }, part));
    start = stop;
  }
}

async function drawPicture(box, look, episode) {
  box.dataset.picture = look.picture;
  const data = await episode.entry("pictures", look.picture);
  if (box.dataset.picture !== String(look.picture)) return; // a different moment is displayed by now
  const words = h("details", { class: "words" }, h("summary", {}, "As text"), h("pre", { class: "text" }, visible(look.rows.join("\n"))));
  words.open = box.querySelector("details.words")?.open || false;
  fill(box, h("img", { class: look.colours.length ? "picture tiles" : "picture", src: "data:image/png;base64," + data, alt: "the game's screen as an image" }), words);
}

// A step that is shown before the others are rebuilt: its screen, its action, and the answer it was read from.
function earlyLook(words, look) {
  const screen = h("div", { class: "screen", tabindex: "0", "aria-label": `Screen of step ${look.at}` });
  const moment = { screen: { ...look.screen, picture: look.picture === null ? null : 0 } };
  drawScreen(screen, moment, { entry: async () => look.picture });
  return h("div", { class: "early" },
    h("p", { class: "waiting", role: "status" }, words),
    h("h2", {}, look.do ? [h("span", { class: "soft" }, `step ${count(look.at)} `), visible(look.do)] : `step ${count(look.at)}`),
    screen, h("p", { class: "line" }, visible(look.line)),
    look.answer ? h("pre", { class: "text answer", tabindex: "0", "aria-label": "answer" }, visible(look.answer)) : null);
}
