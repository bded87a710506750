"use strict";
// Filters hide rows; ranks are those among all rows of a table.
const form = document.querySelector("form");
if (form) {
  const fits = (row, wanted) =>
    (!wanted.state || row.dataset.state === wanted.state) &&
    (!wanted.weights || row.dataset.weights === wanted.weights) &&
    (!wanted.tools || (row.dataset.tools === "") === (wanted.tools === "without")) &&
    (wanted.cost === "" || (row.dataset.dollars !== "" && Number(row.dataset.dollars) <= Number(wanted.cost)));
  const filter = () => {
    const wanted = Object.fromEntries(new FormData(form));
    for (const row of document.querySelectorAll("tr[data-state]")) row.hidden = !fits(row, wanted);
    for (const section of document.querySelectorAll("section[data-by]"))
      section.hidden = wanted.by !== "" && section.dataset.by !== wanted.by;
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
}
