// A reader's notes on steps: stored beside the run by the server, or saved to and loaded from a file.

class Notes {
  constructor(app) {
    this.app = app;
    this.all = app.run.notes.slice();
  }

  of(key) {
    return this.all.filter((note) => note.key === key).sort((a, b) => a.step - b.step);
  }

  async change(note, remove) {
    const same = (other) => other.key === note.key && other.step === note.step && other.text === note.text && other.at === note.at;
    if (SERVED) {
      const answer = await fetch("notes", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...note, remove }) });
      if (!answer.ok) return say(await answer.text());
    }
    this.all = this.all.filter((other) => !same(other));
    if (!remove) this.all.push(note);
    return say(remove ? "Note removed" : SERVED ? "Note saved beside the run" : "Note stored in this page; save it before you close the page");
  }

  file() {
    const rows = this.all.map((note) => ({ episode: this.app.episodes.get(note.key).row.name, step: note.step, text: note.text, at: note.at }));
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
    for (const row of fitting) await this.change({ key: keys.get(row.episode), step: row.step, text: row.text, at: String(row.at || "") }, false);
    return say(`${plural(fitting.length, "note")} loaded`);
  }

  draw(box, page) {
    const area = h("textarea", { rows: 3, "aria-label": `A note on step ${page.at}`, placeholder: `A note on step ${page.at}`, maxlength: 10000 });
    const keep = async () => {
      if (!area.value.trim()) return;
      await this.change({ key: page.episode.key, step: page.at, text: area.value, at: new Date().toISOString() }, false);
      page.noted();
    };
    area.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) keep(); });
    const rows = this.of(page.episode.key).map((note) => h("li", {},
      h("button", { type: "button", class: "link", onclick: () => page.seek(note.step) }, `step ${note.step}`), h("span", { class: "soft" }, ` ${visible(note.at.slice(0, 16).replace("T", " "))} `),
      h("button", { type: "button", class: "link", onclick: async () => { await this.change(note, true); page.noted(); } }, "Remove"), textBlock(note.text)));
    const pick = h("input", { type: "file", accept: ".json,application/json", class: "off", tabindex: "-1", "aria-hidden": "true", onchange: async () => { await this.load(pick.files[0]); page.noted(); } });
    fill(box, area, h("div", { class: "choices" }, h("button", { type: "button", onclick: keep }, "Keep"), h("button", { type: "button", onclick: () => this.file() }, "Save as a file"), h("button", { type: "button", onclick: () => pick.click() }, "Load a file"), pick),
      rows.length ? h("ol", { class: "notes" }, rows) : h("p", { class: "soft" }, "No notes on this episode."));
  }
}
