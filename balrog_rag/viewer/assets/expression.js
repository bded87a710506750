// The search language: action:pray & hp<0.3, message:"You feel", query:~stairs, progression>5, AND, OR, NOT.
// Words without a field are searched as a phrase. A text that is not an expression is searched as it is.

// Signs, words between terms, field:~pattern, field:value and the like, ~pattern, "phrase", word. A pattern without quotes ends at a space.
const TOKEN = /\s*(?:(\(|\)|&|\||!)|(AND|OR|NOT)(?=[\s(]|$)|([A-Za-z_][\w.]*)?(:?~)("(?:[^"\\]|\\.)*"|\S+)|([A-Za-z_][\w.]*)(:|<=|>=|!=|=|<|>)("(?:[^"\\]|\\.)*"|[^\s()&|]+)|("(?:[^"\\]|\\.)*")|([^\s()&|]+))/y;
const LONGEST_EXPRESSION = 2000;

function tokensOf(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length && text.slice(TOKEN.lastIndex).trim()) {
    const match = TOKEN.exec(text);
    if (!match) throw new Error("not an expression");
    const [, sign, word, matched, tilde, pattern, field, operator, value, phrase, bare] = match;
    if (sign || word) found.push({ is: { "&": "AND", "|": "OR", "!": "NOT" }[sign] || sign || word });
    else if (tilde) found.push({ is: "term", field: (matched || "").toLowerCase(), operator: ":~", value: pattern.startsWith('"') ? pattern.slice(1, -1) : pattern });
    else if (field) found.push({ is: "term", field: field.toLowerCase(), operator, value: unquoted(value) });
    else found.push({ is: "word", value: phrase ? unquoted(phrase) : bare });
  }
  return found;
}

function unquoted(text) {
  return text.startsWith('"') ? text.slice(1, -1).replace(/\\(.)/g, "$1") : text;
}

// The tree of an expression; a text that is none becomes one phrase.
function parseExpression(text) {
  const phrase = { is: "term", field: "", operator: ":", value: text.trim() };
  if (!phrase.value || text.length > LONGEST_EXPRESSION) return phrase;
  try {
    const reader = { tokens: tokensOf(text), at: 0 };
    const tree = readOr(reader);
    return reader.at === reader.tokens.length ? tree : phrase;
  } catch {
    return phrase;
  }
}

function readOr(reader) {
  const parts = [readAnd(reader)];
  while (accept(reader, "OR")) parts.push(readAnd(reader));
  return parts.length > 1 ? { is: "OR", parts } : parts[0];
}

function readAnd(reader) {
  const parts = [readNot(reader)];
  for (;;) {
    const next = reader.tokens[reader.at];
    if (accept(reader, "AND") || (next && ["term", "word", "NOT", "("].includes(next.is))) parts.push(readNot(reader));
    else return parts.length > 1 ? { is: "AND", parts } : parts[0];
  }
}

function readNot(reader) {
  if (accept(reader, "NOT")) return { is: "NOT", parts: [readNot(reader)] };
  if (accept(reader, "(")) {
    const inner = readOr(reader);
    if (!accept(reader, ")")) throw new Error("a parenthesis is not closed");
    return inner;
  }
  const token = reader.tokens[reader.at];
  if (!token) throw new Error("something is missing");
  if (token.is === "term") { reader.at++; return token; }
  if (token.is !== "word") throw new Error("a term is missing");
  const words = [];
  while (reader.tokens[reader.at] && reader.tokens[reader.at].is === "word") words.push(reader.tokens[reader.at++].value);
  return { is: "term", field: "", operator: ":", value: words.join(" ") };
}

function accept(reader, is) {
  const found = reader.tokens[reader.at] && reader.tokens[reader.at].is === is;
  if (found) reader.at++;
  return found;
}

function termsOf(tree) {
  return tree.is === "term" ? [tree] : tree.parts.flatMap(termsOf);
}

function compares(value, { operator, value: given }) {
  const wanted = Number(given);
  if (value === null || value === undefined || Number.isNaN(wanted)) return false;
  return { "<": value < wanted, "<=": value <= wanted, ">": value > wanted, ">=": value >= wanted, "=": value === wanted, "!=": value !== wanted, ":": value === wanted }[operator] || false;
}

// Whether a row of the list matches; `labels` are those of its episode.
function rowMatches(tree, row, labels) {
  if (tree.is === "AND") return tree.parts.every((part) => rowMatches(part, row, labels));
  if (tree.is === "OR") return tree.parts.some((part) => rowMatches(part, row, labels));
  if (tree.is === "NOT") return !rowMatches(tree.parts[0], row, labels);
  const { field, value } = tree;
  const small = value.toLowerCase();
  const texts = { episode: row.key, outcome: `${row.outcome} ${outcomeWords(row.outcome)}`, how: row.how, cause: row.cause, run: row.run, agent: row.agent, model: row.model, kind: row.kind, state: row.state, label: labels.join("\n") };
  if (!field) return value.toLowerCase().split(/\s+/).every((word) => [...Object.values(texts)].join(" ").toLowerCase().includes(word));
  if (field in texts) return String(texts[field] || "").toLowerCase().includes(small);
  const measure = (row.measures || []).find(([title]) => title.toLowerCase().includes(field));
  return compares(field in row ? row[field] : measure && measure[1], tree);
}

const REGEX_SECONDS = 2;
const REGEX_WORKER = `onmessage = ({ data: [pattern, texts] }) => {
  const wanted = new RegExp(pattern, "iu");
  const found = [];
  texts.forEach((text, place) => { const match = wanted.exec(text); if (match) found.push([place, match.index, match[0].length]); });
  postMessage(found);
};`;

// The first match of a regular expression in each text, in a worker that is ended after some seconds.
function matchesOf(pattern, texts) {
  new RegExp(pattern, "iu"); // a wrong one is reported here
  return new Promise((resolve, reject) => {
    const address = URL.createObjectURL(new Blob([REGEX_WORKER], { type: "text/javascript" }));
    const worker = new Worker(address);
    const end = (act, value) => { clearTimeout(timer); worker.terminate(); URL.revokeObjectURL(address); act(value); };
    const timer = setTimeout(() => end(reject, new Error(`the expression ~${pattern} took longer than ${REGEX_SECONDS} s; simplify it`)), 1000 * REGEX_SECONDS);
    worker.onmessage = ({ data }) => end(resolve, data);
    worker.onerror = (event) => { event.preventDefault(); end(reject, new Error(event.message || "the expression could not be searched")); };
    worker.postMessage([pattern, texts]);
  });
}
