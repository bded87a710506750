(function () {
"use strict";
// Tables that a reader sorts by their headings and filters by words. Without this script they are plain tables.

const FILTERED_FROM = 8;

function figure(text) {
  const found = /-?[\d,]*\.?\d+/.exec(text);
  if (!found || text.search(/\S/) < found.index - 2) return null;
  const size = { k: 1e3, M: 1e6 }[text[found.index + found[0].length]] || 1;
  return Number(found[0].replace(/,/g, "")) * size;
}

function order(a, b) {
  const one = figure(a);
  const other = figure(b);
  if (one !== null && other !== null) return one - other;
  if (one !== null || other !== null) return one === null ? -1 : 1;
  return a.localeCompare(b, "en", { numeric: true });
}

function sortable(table) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].sort((a, b) => order(a.cells[place].textContent, b.cells[place].textContent));
      body.append(...(down ? rows.reverse() : rows));
    });
  });
  if (body.rows.length < FILTERED_FROM) return;
  const filter = document.createElement("input");
  filter.type = "search";
  filter.placeholder = "Filter these rows";
  filter.setAttribute("aria-label", "Filter these rows");
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of body.rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
  });
  table.parentElement.before(filter);
}

document.querySelectorAll("div.wide > table").forEach((table) => { if (table.tBodies[0].rows.length > 1) sortable(table); });
})();
