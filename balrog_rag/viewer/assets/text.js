// Text and elements. Every text of a game, a wiki or a model becomes a text node; markup is never parsed.

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Cs}/gu;
const LONGEST = 20000; // characters of a text shown initially

const WORD = /(?<![\p{L}\p{N}])[A-Za-z]+(?![\p{L}\p{N}])/gu;
let original = null; // the original word of each invented one, while a renamed world is shown in its own names

function showNames(names) {
  original = names;
}

// Each letter keeps its case: an invented word is as long as the original one.
function named(word) {
  const found = original[word.toLowerCase()];
  return found ? [...found].map((letter, at) => (word[at] === word[at].toLowerCase() ? letter : letter.toUpperCase())).join("") : word;
}

// Characters that are invisible or change the text direction are shown by code point.
function visible(text) {
  return (original ? String(text).replace(WORD, named) : String(text)).replace(HIDDEN, (sign) => {
    const code = sign.charCodeAt(0);
    if (code < 32) return String.fromCharCode(0x2400 + code);
    if (code === 127) return "\u2421";
    return "\u27e8U+" + code.toString(16).toUpperCase().padStart(4, "0") + "\u27e9";
  });
}

// h("p", {class: "note", onclick: f}, "text", element, [more]) makes an element; strings become text nodes, made visible.
function h(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || (value === false && !name.startsWith("aria-"))) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
  }
  made.append(...shown(children));
  return made;
}

// The same for a drawing: drawn("path", {class: "line", d: "M0 0"}).
function drawn(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) if (value !== null && value !== undefined) made.setAttribute(name, String(value));
  made.append(...shown(children));
  return made;
}

function shown(children) {
  const there = children.flat(4).filter((child) => child !== null && child !== undefined && child !== "");
  return there.map((child) => (typeof child === "string" ? visible(child) : child));
}

function fill(element, ...children) {
  element.replaceChildren(...shown(children));
  return element;
}

// A text block; a very long text is cut, with a button to show the rest.
function textBlock(text, name) {
  const block = h("pre", { class: "text " + (name || ""), dir: "auto", tabindex: "0" }); // long ones scroll
  if (text.length <= LONGEST) {
    block.textContent = visible(text);
    return block;
  }
  const more = h("button", { type: "button", class: "more" }, `Show all ${count(text.length)} characters`);
  more.addEventListener("click", () => { block.textContent = visible(text); });
  block.append(visible(text.slice(0, LONGEST)) + "\u2026\n", more);
  return block;
}

// A link if the address is an HTTP URL; otherwise plain text.
function address(url, words) {
  if (!/^https?:\/\/[^\s]+$/i.test(url || "")) return h("span", { dir: "auto" }, visible(words || url || ""));
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer", dir: "auto" }, visible(words || url));
}

// A name that breaks after its separators instead of within a word.
function breakable(name) {
  return visible(name).split(/(?<=[/:_-])/).map((piece, place) => (place ? [h("wbr", {}), piece] : piece));
}

function clipped(text, most) {
  return text.length > most ? `${text.slice(0, most - 1).trimEnd()}\u2026` : text;
}

function count(number) {
  return Number(number).toLocaleString("en-US");
}

function short(number) {
  const size = Math.abs(number);
  if (size >= 1e6) return (number / 1e6).toFixed(size >= 1e7 ? 1 : 2) + "M";
  if (size >= 1e4) return (number / 1e3).toFixed(1) + "k";
  return count(Math.round(number * 100) / 100);
}

function dollars(amount, unknown) {
  if (amount === null || amount === undefined) return "unknown";
  if (amount === 0) return "$0" + (unknown ? "+?" : "");
  return "$" + amount.toFixed(amount < 0.01 ? 6 : 4) + (unknown ? "+?" : "");
}

function seconds(amount) {
  if (amount >= 3600) return (amount / 3600).toFixed(1) + " h";
  if (amount >= 120) return (amount / 60).toFixed(1) + " min";
  return amount.toFixed(amount < 10 ? 2 : 1) + " s";
}

function plural(number, word) {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

function say(words) {
  document.getElementById("status").textContent = words;
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { class: "off", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(`${what} copied`);
}

function save(name, parts, type) {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  say(`${name} saved`);
}
