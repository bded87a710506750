"use strict";
const at = (id) => document.getElementById(id);
let busy = false;

// Only text nodes are made from what the game says.
function show(state) {
  at("place").textContent = state.over ? "The run is over" : `${state.episode}, step ${state.step}${state.paused ? ", paused" : ""}`;
  at("rules").textContent = state.rules;
  at("text").textContent = state.text;
  at("pause").textContent = state.paused ? "Go on" : "Pause";
  for (const field of at("form").elements) field.disabled = state.over;
  at("line").focus();
}

async function ask(path, body) {
  if (busy) return;
  busy = true;
  try {
    const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const answer = await fetch(path, options);
    if (!answer.ok) throw new Error(await answer.text());
    show(await answer.json());
  } catch (error) {
    at("text").textContent = `${error.message || error}`;
  } finally {
    busy = false;
  }
}

at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const line = at("line").value.trim();
  at("line").value = "";
  if (line) ask("line", { line });
});
at("pause").addEventListener("click", () => ask("line", { line: "/pause" }));
at("leave").addEventListener("click", () => ask("line", { line: "/leave" }));
at("give_up").addEventListener("click", () => { if (confirm("End this game with the progression made so far?")) ask("line", { line: "/give_up" }); });
ask("state");
