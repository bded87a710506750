// The timeline: a strip of marks and one row per curve, with a common cursor.

const STRIP = 26;
const LOOKUPS_ROW = 22;
const ROW = 30;
const NAMES = 118; // width of the column of names
const SCALE = 52; // width of the column of scales

class Timeline {
  constructor(episode, seek) {
    this.episode = episode;
    this.seek = seek;
    this.at = 0;
    this.marks = [];
    this.lookups = [];
    this.changed = new Set(); // steps at which retrieval changed the action
    this.canvas = h("canvas", { class: "timeline", "aria-hidden": "true" });
    this.tip = h("p", { class: "tip", hidden: true });
    this.element = h("div", { class: "timeline-box" }, this.canvas, this.tip);
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.dragging = true;
      this.seek(this.position(event));
    });
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerup", () => { this.dragging = false; });
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(at, marks) {
    const moved = this.marks === marks && this.drawn === this.episode.head;
    this.at = at;
    this.marks = marks;
    if (moved) this.drawCursor();
    else this.draw();
  }

  get curves() {
    const { head, spending, last } = this.episode;
    this.lookups = this.episode.lookups;
    const made = head.curves.map((curve) => ({ ...curve, words: (value) => measured(value, curve.unit) }));
    if (spending.tokens[last]) made.push({ title: "tokens", values: spending.tokens, words: short });
    if (spending.dollars[last]) made.push({ title: "dollars", values: spending.dollars, words: (value) => dollars(value, spending.unknown) });
    return made;
  }

  x(at) {
    return NAMES + (at / Math.max(1, this.episode.last)) * (this.width - NAMES - SCALE);
  }

  position(event) {
    const across = event.clientX - this.canvas.getBoundingClientRect().left - NAMES;
    const share = Math.min(1, Math.max(0, across / (this.width - NAMES - SCALE)));
    return Math.round(share * this.episode.last);
  }

  hover(event) {
    const at = this.position(event);
    if (this.dragging) this.seek(at);
    const near = this.marks.filter((mark) => Math.abs(this.x(mark[0]) - this.x(at)) < 5).slice(0, 4);
    const said = near.map(([step, , words]) => `step ${step}: ${visible(words)}`);
    const found = this.lookups.find(({ step }) => Math.abs(this.x(step) - this.x(at)) < 3);
    if (found) said.push(`look-up at step ${found.step}: ${plural(found.passages.length, "passage")}, ${found.fresh} new, ${short(found.tokens)} tokens`);
    const loop = (this.episode.head.loops || []).find(([first, last]) => first <= at && at <= last);
    if (loop) said.push(`the same screens again and again, steps ${loop[0]} to ${loop[1]}`);
    fill(this.tip, ...(said.length ? said : [`step ${at}`]).map((line) => h("span", {}, line)));
    this.tip.hidden = false;
    this.tip.style.left = Math.min(this.x(at) + 8, Math.max(0, this.width - 260)) + "px";
  }

  draw() {
    const curves = (this.shown = this.curves);
    this.drawn = this.episode.head;
    const scale = window.devicePixelRatio || 1;
    this.width = this.element.clientWidth;
    this.top = STRIP + (this.lookups.length ? LOOKUPS_ROW : 0);
    const height = this.top + curves.length * ROW + 4;
    if (!this.width) return;
    // the static layer is drawn once and copied under the cursor at every step
    this.layer = h("canvas", { width: this.width * scale, height: height * scale });
    this.canvas.width = this.layer.width;
    this.canvas.height = this.layer.height;
    this.canvas.style.height = height + "px";
    const paint = this.layer.getContext("2d");
    paint.scale(scale, scale);
    const style = getComputedStyle(this.element);
    this.ink = { faint: style.getPropertyValue("--line"), text: style.getPropertyValue("--soft"), strong: style.getPropertyValue("--ink"), curve: style.getPropertyValue("--accent"), bad: style.getPropertyValue("--bad"), loop: style.getPropertyValue("--loop"), face: style.fontFamily };
    this.drawLoops(paint, height);
    this.drawStrip(paint);
    if (this.lookups.length) this.drawLookups(paint);
    curves.forEach((curve, place) => this.drawCurve(paint, curve, this.top + place * ROW));
    this.drawCursor();
  }

  drawCursor() {
    if (!this.layer) return;
    const scale = this.layer.width / this.width;
    const paint = this.canvas.getContext("2d");
    paint.setTransform(1, 0, 0, 1, 0, 0);
    paint.clearRect(0, 0, this.layer.width, this.layer.height);
    paint.drawImage(this.layer, 0, 0);
    paint.scale(scale, scale);
    this.shown.forEach((curve, place) => {
      const now = curve.values[Math.min(this.at, curve.values.length - 1)];
      this.words(paint, curve.words(now), 0, this.top + place * ROW + ROW / 2 + 7, "left", true);
    });
    const x = Math.round(this.x(this.at)) + 0.5;
    paint.strokeStyle = this.ink.strong;
    paint.lineWidth = 1;
    paint.beginPath();
    paint.moveTo(x, 2);
    paint.lineTo(x, this.layer.height / scale);
    paint.stroke();
  }

  drawStrip(paint) {
    this.words(paint, "marks", 0, STRIP / 2, "left");
    paint.strokeStyle = this.ink.faint;
    paint.beginPath();
    paint.moveTo(NAMES, STRIP / 2);
    paint.lineTo(this.width - SCALE, STRIP / 2);
    paint.stroke();
    for (const [at, kind] of this.marks) drawMark(paint, kind, this.x(at), STRIP / 2, 10);
  }

  drawCurve(paint, curve, top) {
    const values = curve.values;
    const [low, high] = curve.range || (curve.down ? depthsOf(values) : rangeOf(values));
    const share = (value) => Math.min(1, Math.max(0, (value - low) / (high - low || 1)));
    const place = (value) => (curve.down ? top + 5 + share(value) * (ROW - 10) : top + ROW - 5 - share(value) * (ROW - 10));
    const [above, below] = curve.down ? [low, high] : [high, low];
    if (high > low) this.words(paint, scaled(curve, above), this.width, top + 8, "right");
    this.words(paint, scaled(curve, below), this.width, top + ROW - 8, "right");
    paint.strokeStyle = this.ink.faint;
    paint.lineWidth = 1;
    paint.beginPath();
    paint.moveTo(NAMES, top + ROW - 2.5);
    paint.lineTo(this.width - SCALE, top + ROW - 2.5);
    paint.stroke();
    paint.strokeStyle = this.ink.curve;
    paint.lineWidth = 1.4;
    paint.beginPath();
    const pixels = Math.max(1, this.width - NAMES - SCALE);
    const by = Math.max(1, Math.floor(values.length / pixels / 2));
    for (let at = 0; at < values.length; at += by) {
      // every value if there is room, otherwise the minimum and maximum of each half pixel
      let least = values[at];
      let most = values[at];
      for (let next = at; next < Math.min(values.length, at + by); next++) { least = Math.min(least, values[next]); most = Math.max(most, values[next]); }
      const x = this.x(at);
      if (at) paint.lineTo(x, place(least));
      else paint.moveTo(x, place(least));
      if (most !== least) paint.lineTo(x, place(most));
    }
    paint.stroke();
    this.words(paint, curve.title, 0, top + ROW / 2 - 6, "left");
    if (isDeath({ outcome: this.episode.head.outcome }) && (curve.name === "health" || curve.down)) this.drawDeath(paint, place(values[values.length - 1]));
  }

  drawDeath(paint, y) {
    const x = this.x(this.episode.last);
    paint.strokeStyle = this.ink.bad;
    paint.lineWidth = 2;
    paint.beginPath();
    for (const [dx, dy] of [[4, 4], [4, -4]]) { paint.moveTo(x - dx, y - dy); paint.lineTo(x + dx, y + dy); }
    paint.stroke();
  }

  // Stretches in which the same screens come again and again are shaded.
  drawLoops(paint, height) {
    paint.fillStyle = this.ink.loop;
    for (const [first, last] of this.episode.head.loops || []) paint.fillRect(this.x(first), 2, Math.max(2, this.x(last) - this.x(first)), height - 4);
  }

  // A tick per look-up: its height is its tokens, filled if a passage is new, coloured if it changed the action.
  drawLookups(paint) {
    const most = Math.max(1, ...this.lookups.map(({ tokens }) => tokens));
    const bottom = this.top - 3;
    this.words(paint, "look-ups", 0, bottom - 8, "left");
    this.words(paint, `${short(most)} tok`, this.width, bottom - 8, "right");
    for (const { step, tokens, fresh } of this.lookups) {
      const size = 3 + (tokens / most) * (LOOKUPS_ROW - 8);
      paint.fillStyle = paint.strokeStyle = this.changed.has(step) ? "#CC79A7" : this.ink.curve;
      paint.lineWidth = 1;
      if (fresh) paint.fillRect(this.x(step) - 1.5, bottom - size, 3, size);
      else paint.strokeRect(this.x(step) - 1, bottom - size, 2, size);
    }
  }

  words(paint, text, x, y, align, strong) {
    const most = align === "right" ? SCALE - 4 : NAMES - 8;
    paint.font = `${strong ? 600 : 400} 11px ${this.ink.face}`;
    paint.fillStyle = strong ? this.ink.strong : this.ink.text;
    paint.textAlign = align;
    paint.textBaseline = "middle";
    paint.fillText(visible(text), x, y, most);
  }
}

// A value with its unit, which is in the singular for one.
function measured(value, unit) {
  return unit === "%" ? `${short(value)}%` : `${short(value)} ${value === 1 ? unit.replace(/s$/, "") : unit}`;
}

// A value at the end of a scale: the unit stands at the left.
function scaled(curve, value) {
  return curve.unit && curve.unit !== "%" ? short(value) : curve.words(value);
}

// Depths begin at the least one, which is drawn at the top.
function depthsOf(values) {
  const known = values.filter((value) => value > 0);
  return known.length ? [known.reduce((least, value) => Math.min(least, value)), known.reduce((most, value) => Math.max(most, value))] : [0, 0];
}

// The range of values, extended to 0 unless the minimum is close to the maximum.
function rangeOf(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) { if (value < low) low = value; if (value > high) high = value; }
  return [low > 0 && low < high * 0.7 ? 0 : low, high];
}
