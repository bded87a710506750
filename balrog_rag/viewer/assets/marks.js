// Marks that a reader may want to jump to. Each kind has its own colour and shape.

const MARKS = {
  place: ["#0072B2", "diamond"],
  height: ["#009E73", "up"],
  hurt: ["#D55E00", "down"],
  thing: ["#56B4E9", "dot"],
  ailment: ["#E69F00", "square"],
  deed: ["#CC79A7", "cross"],
  invalid: ["#D55E00", "times"],
  note: ["#999999", "square"],
  cap: ["#E69F00", "flag"],
  end: ["#D55E00", "flag"],
  search: ["#56B4E9", "times"],
  retrieval: ["#CC79A7", "diamond"],
  reader: ["#F0E442", "square"],
  match: ["#CC6677", "up"],
};
const OFF_AT_FIRST = new Set(["thing", "search"]);

function drawMark(paint, kind, x, y, size) {
  const [colour, shape] = MARKS[kind] || ["#999999", "dot"];
  const r = size / 2;
  paint.fillStyle = paint.strokeStyle = colour;
  paint.lineWidth = 2;
  paint.beginPath();
  if (shape === "dot") paint.arc(x, y, r * 0.8, 0, 7);
  else if (shape === "square") paint.rect(x - r * 0.8, y - r * 0.8, r * 1.6, r * 1.6);
  else if (shape === "diamond") path(paint, [[x, y - r], [x + r, y], [x, y + r], [x - r, y]]);
  else if (shape === "up") path(paint, [[x, y - r], [x + r, y + r], [x - r, y + r]]);
  else if (shape === "down") path(paint, [[x, y + r], [x + r, y - r], [x - r, y - r]]);
  else if (shape === "flag") path(paint, [[x - r, y - r], [x + r, y - r * 0.3], [x - r, y + r * 0.4], [x - r, y + r]]);
  else {
    const lines = shape === "cross" ? [[0, -r, 0, r], [-r, 0, r, 0]] : [[-r, -r, r, r], [-r, r, r, -r]];
    for (const [a, b, c, d] of lines) { paint.moveTo(x + a, y + b); paint.lineTo(x + c, y + d); }
    paint.stroke();
    return;
  }
  paint.fill();
}

function path(paint, points) {
  points.forEach(([x, y], at) => (at ? paint.lineTo(x, y) : paint.moveTo(x, y)));
  paint.closePath();
}

function markIcon(kind) {
  const icon = h("canvas", { class: "icon", width: 28, height: 28, "aria-hidden": "true" });
  const paint = icon.getContext("2d");
  paint.scale(2, 2);
  drawMark(paint, kind, 7, 7, 9);
  return icon;
}
