// A reader's notes on steps: stored beside the run by the server, or saved to and loaded from a file.

class Notes {
  constructor(app) {
    this.app = app;
    this.all = app.run.notes.slice();
  }

  of(key) {
    return this.all.filter((note) => note.key === key).sort((a, b) => a.step - b.step);
  }

  // The labels of an episode, those of its steps included.
  labels(key) {
    return this.all.filter((note) => note.label && (key === undefined || note.key === key)).map((note) => note.label);
  }

  // Labels as a table: one row each.
  table() {
    const cell = (text) => `"${String(text).replace(/"/g, '""')}"`;
    const rows = this.all.filter((note) => note.label).map((note) => [this.app.episodes.get(note.key).row.name, note.step < 0 ? "" : note.step, note.label, note.text, note.at].map(cell).join(","));
    save("labels.csv", [["episode", "step", "label", "note", "at"].join(",") + "\n" + rows.map((row) => row + "\n").join("")], "text/csv");
  }

  async change(note, remove) {
    const same = (other) => other.key === note.key && other.step === note.step && other.text === note.text && other.at === note.at && (other.label || "") === (note.label || "");
    if (SERVED) {
      const answer = await fetch("notes", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...note, remove }) });
      if (!answer.ok) return say(await answer.text());
    }
    this.all = this.all.filter((other) => !same(other));
    if (!remove) this.all.push(note);
    return say(remove ? "Note removed" : SERVED ? "Note saved beside the run" : "Note stored in this page; save it before you close the page");
  }

  file() {
    const rows = this.all.map((note) => ({ episode: this.app.episodes.get(note.key).row.name, step: note.step, text: note.text, at: note.at, ...(note.label ? { label: note.label } : {}) }));
    save("notes.json", [JSON.stringify(rows, null, 4) + "\n"], "application/json");
  }

  // Add the notes of a file, except those on episodes that are not on this page.
  async load(file) {
    let rows;
    try {
      rows = JSON.parse(await file.text());
    } catch {
      return say("This file contains no notes.");
    }
    const keys = new Map([...this.app.episodes.values()].map((episode) => [episode.row.name, episode.key]));
    const fitting = (Array.isArray(rows) ? rows : []).filter((row) => row && keys.has(row.episode) && Number.isInteger(row.step) && typeof row.text === "string");
    for (const row of fitting) await this.change({ key: keys.get(row.episode), step: row.step, text: row.text, at: String(row.at || ""), label: String(row.label || "") }, false);
    return say(`${plural(fitting.length, "note")} loaded`);
  }

  draw(box, page) {
    const area = h("textarea", { rows: 3, "aria-label": `A note on step ${page.at}`, placeholder: `A note on step ${page.at}`, maxlength: 10000 });
    const label = h("input", { type: "text", "aria-label": "Label", placeholder: "Label", maxlength: 100, list: "labels" });
    const known = h("datalist", { id: "labels" }, [...new Set(this.labels())].map((value) => h("option", { value })));
    const whole = h("input", { type: "checkbox" });
    const keep = async () => {
      if (!area.value.trim() && !label.value.trim()) return;
      await this.change({ key: page.episode.key, step: whole.checked ? -1 : page.at, text: area.value, at: new Date().toISOString(), label: label.value.trim() }, false);
      page.noted();
    };
    area.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) keep(); });
    const rows = this.of(page.episode.key).map((note) => h("li", {},
      h("button", { type: "button", class: "link", onclick: () => page.seek(Math.max(0, note.step)) }, note.step < 0 ? "whole episode" : `step ${note.step}`), note.label ? h("strong", { class: "label", dir: "auto" }, ` ${visible(note.label)}`) : null, h("span", { class: "soft" }, ` ${visible(note.at.slice(0, 16).replace("T", " "))} `),
      h("button", { type: "button", class: "link", onclick: async () => { await this.change(note, true); page.noted(); } }, "Remove"), note.text ? textBlock(note.text) : null));
    const pick = h("input", { type: "file", accept: ".json,application/json", class: "off", tabindex: "-1", "aria-hidden": "true", onchange: async () => { await this.load(pick.files[0]); page.noted(); } });
    fill(box, area, h("div", { class: "choices" }, label, known, h("label", {}, whole, " whole episode"), h("button", { type: "button", onclick: keep }, "Keep"), h("button", { type: "button", onclick: () => this.file() }, "Save as a file"), h("button", { type: "button", onclick: () => pick.click() }, "Load a file"), this.labels().length ? h("button", { type: "button", onclick: () => this.table() }, "Labels as CSV") : null, pick),
      rows.length ? h("ol", { class: "notes" }, rows) : h("p", { class: "soft" }, "No notes on this episode."));
  }
}
