// Differences between two prompts: first whole messages, then lines within a message.

const MOST_CELLS = 4e6; // limit on compared pairs of lines; beyond it a text is shown as replaced

// Lines of two texts as [sign, line]: " " in both, "-" only in the first, "+" only in the second.
function lineDifference(before, now) {
  const olds = before.split("\n");
  const news = now.split("\n");
  let start = 0;
  while (start < olds.length && start < news.length && olds[start] === news[start]) start++;
  let end = 0;
  while (end < olds.length - start && end < news.length - start && olds[olds.length - 1 - end] === news[news.length - 1 - end]) end++;
  const middle = between(olds.slice(start, olds.length - end), news.slice(start, news.length - end));
  const same = (line) => [" ", line];
  return [...news.slice(0, start).map(same), ...middle, ...(end ? news.slice(-end).map(same) : [])];
}

function between(olds, news) {
  const height = olds.length;
  const width = news.length;
  if (height * width > MOST_CELLS) return [...olds.map((line) => ["-", line]), ...news.map((line) => ["+", line])];
  const longest = Array.from({ length: height + 1 }, () => new Uint16Array(width + 1));
  for (let i = height - 1; i >= 0; i--)
    for (let j = width - 1; j >= 0; j--)
      longest[i][j] = olds[i] === news[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  const made = [];
  let i = 0;
  let j = 0;
  while (i < height || j < width) {
    if (i < height && j < width && olds[i] === news[j]) { made.push([" ", news[j]]); i++; j++; }
    else if (i < height && (j >= width || longest[i + 1][j] >= longest[i][j + 1])) made.push(["-", olds[i++]]);
    else made.push(["+", news[j++]]);
  }
  return made;
}

// Each message of a prompt compared with the previous prompt: its status, and its counterpart there.
function promptDifference(before, now) {
  const known = new Set(before.map((message) => message.id));
  let head = 0;
  while (head < before.length && head < now.length && before[head].id === now[head].id) head++;
  return now.map((message, place) => {
    if (place < head) return { message, how: "head" };
    if (known.has(message.id)) return { message, how: "known" };
    const counterpart = before[before.length - (now.length - place)];
    const fits = counterpart && counterpart.role === message.role;
    return { message, how: "new", counterpart: fits ? counterpart : null, first: place === head };
  });
}

function commonStart(one, other) {
  let at = 0;
  const most = Math.min(one.length, other.length);
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return at;
}
