// Three linked slices of one cube in third-angle layout: query × key and query × third share their rows, query × third
// and key × third share their columns, so one crosshair reads straight across.  The third axis is context or feature.

const AXIS = { query: 0, key: 1, context: 2, feature: 2 };
/** Of each panel the axis down, the axis across, and the one that it is a slice of. */
const panelsOf = ([query, key, third]) => ({ qk: [query, key, third], qc: [query, third, key], kc: [key, third, query] });

/** The payload, unpacked: levels, sums and exact numbers by cell. */
function readCube(payload) {
  const axes = payload.order.map((axis) => payload.axes[axis]), third = payload.order[2], [Q, K, C] = axes.map((a) => a.label.length);
  const levels = bytes(payload.levels), sums = Object.fromEntries(Object.entries(payload.sums).map(([name, packed]) => [name, floats(packed)]));
  const masked = payload.masked && bytes(payload.masked);
  const exact = payload.exact && Object.fromEntries(Object.entries(payload.exact).map(([name, packed]) => [name, floats(packed)]));
  const at = (cell) => (cell[0] * K + cell[1]) * C + cell[2];
  return {
    payload, axes, third, panels: panelsOf(payload.order), sizes: [Q, K, C], exact, levels, at,
    level: (cell) => levels[at(cell)],
    masked: ([q, k]) => Boolean(masked && masked[q * K + k]),
    /** How many keys a query may attend to. */
    open: (q) => (masked ? masked.subarray(q * K, (q + 1) * K).reduce((n, out) => n - out, K) : K),
    overKey: sums.key && ((q, c) => sums.key[q * C + c]),
    overThird: (q, k) => sums[third][q * K + k],
  };
}

/** What is known of a cell without the server: exact where the payload has it, else what its level stands for. */
function numbersOf(cube, cell) {
  const { payload, levels, exact } = cube, i = cube.at(cell), known = listed(cube, cell);
  const value = known !== undefined ? known : cube.masked(cell) ? (payload.quantity === "weight" ? 0 : -Infinity) : valueOf(payload.scale, levels[i]), found = { [payload.quantity]: value, of: cube.third === "feature" ? cube.open(cell[0]) : payload.pairs };
  if (exact) {
    for (const name of Object.keys(exact)) found[name] = exact[name][i];
  }
  if (found.weight !== undefined) Object.assign(found, { share: (found.weight * cube.axes[0].cells[cell[0]]) / payload.rows, against: found.weight / evenShare(cube, cell) });
  return found;
}

/** The exact value of a cell that is among the strongest triples: these came with the figure. */
function listed(cube, cell) {
  const { cells, value } = cube.payload.triples;
  cube.strongest ||= new Map(cells.map((one, n) => [one.join(), value[n]]));
  return cube.strongest.get(cell.join()) ?? undefined;
}

/** The weight of a cell where attention is even over the cells of the model, of which a folded one joins several, and
    a masked one has no part. */
function evenShare(cube, cell) {
  const cells = cube.payload.over.reduce((n, axis) => n * cube.axes[AXIS[axis]].cells[cell[AXIS[axis]]], 1);
  return (cube.payload.even * cells * cube.sizes[1]) / (cube.open(cell[0]) || cube.sizes[1]);
}

const isFolded = ({ axes }) => axes.some((tokens) => tokens.cells.some((n) => n > 1));

/** Where everything stands for a given width. */
function arrange(ctx, cube, theme, width) {
  const [query, key, context] = cube.axes, [Q, K, C] = cube.sizes, room = 112;
  const labelQ = clamp(widest(ctx, query, theme), 30, room) + 12, labelK = clamp(widest(ctx, key, theme), 30, room) + 14;
  const barRoom = 74, gap = K + C > 90 ? 3 : 6, gaps = gap * (gapsOf(key) + gapsOf(context));
  ctx.font = font(theme, 14, 600);
  const title = ctx.measureText(`query × key at ${cube.third} `).width + 76;
  const between = Math.max(barRoom, labelK);
  let pitch = clamp((width - labelQ - between - barRoom - gaps) / (K + C), 2.5, 36);
  // Beside many features keys would be too narrow to be told apart.
  const keyWidth = K * (cube.third === "feature" ? clamp((0.28 * width) / K, pitch, 18) : pitch) + gap * gapsOf(key);
  const right = labelQ + Math.max(keyWidth + between, title + 16, 250 - labelQ);
  pitch = Math.min(pitch, (width - right - barRoom - gap * gapsOf(context)) / C);
  // Few keys, and turns or sentences, take what room there is.
  const keyPitch = clamp((right - labelQ - between - gap * gapsOf(key)) / K, pitch, 36);
  const contextPitch = isFolded(cube) ? clamp((width - right - barRoom - gap * gapsOf(context)) / C, pitch, 64) : pitch;
  const tall = (tokens, pitch) => (leans(ctx, tokens, pitch, theme) ? clamp(widest(ctx, tokens, theme), 20, room) * 0.71 + 16 : 26);
  const lean = Math.max(...[[key, keyPitch], [context, contextPitch]].map(([tokens, wide]) => tall(tokens, wide) + STEP * (linesOf(ctx, tokens, wide, theme) - 1)));
  const top = 26 + lean, fit = clamp((560 - top - 52 - 70) / (Q + K), 3.2, 32), step = fit > 0.88 * NEED ? Math.max(fit, NEED) : fit;
  const cols = { key: layoutAxis(key, keyPitch, gap), third: layoutAxis(context, contextPitch, gap) };
  const rows = { query: layoutAxis(query, step, gap), key: layoutAxis(key, step, gap) };
  const lower = top + rows.query.size + 44;
  const height = Math.max(lower + rows.key.size + 72, top + rows.query.size + 290);
  const boxes = {
    qk: { x: labelQ, y: top, rows: rows.query, cols: cols.key },
    qc: { x: right, y: top, rows: rows.query, cols: cols.third },
    kc: { x: right, y: lower, rows: rows.key, cols: cols.third },
  };
  const thin = Math.min(pitch, step) < 15.5;
  return { width, height, boxes, labelQ, room, thin, left: right - labelK - 16, aside: top + rows.query.size + 14 };
}

/** The whole figure.  state: {cell, panel, hover, focus} */
function paintCube(ctx, cube, place, state, theme, colours) {
  const { cell } = state, tint = { query: theme.query, key: theme.key, third: theme[cube.third] };
  for (const [name, box] of Object.entries(place.boxes)) {
    const [rowAxis, colAxis] = cube.panels[name], spot = [...cell];
    const to = (r, c) => Object.assign(spot, { [AXIS[rowAxis]]: r, [AXIS[colAxis]]: c });
    cells(ctx, box.rows, box.cols, box.x, box.y, (r, c) => cube.level(to(r, c)), colours);
    if (cube.payload.masked) hatch(ctx, box.rows, box.cols, box.x, box.y, (r, c) => cube.masked(to(r, c)), theme);
    paintTitle(ctx, cube, name, box, state, theme, place.width);
  }
  const { qk, qc, kc } = place.boxes, [q, k, c] = cell;
  for (const box of [qk, qc]) frame(ctx, box.rows, q, box.x - 4, box.x + box.cols.size + 4, box.y, tint.query);
  frame(ctx, kc.rows, k, kc.x - 4, kc.x + kc.cols.size + 4, kc.y, tint.key);
  frame(ctx, qk.cols, k, qk.y - 4, qk.y + qk.rows.size + 4, qk.x, tint.key, true);
  for (const box of [qc, kc]) frame(ctx, box.cols, c, box.y - 4, box.y + box.rows.size + 4, box.x, tint.third, true);
  for (const [name, box] of Object.entries(place.boxes)) ring(ctx, box.rows, box.cols, cell[AXIS[cube.panels[name][0]]], cell[AXIS[cube.panels[name][1]]], box.x, box.y, theme);
  paintLabels(ctx, cube, place, state, theme, tint);
  paintBars(ctx, cube, place, state, theme, tint);
  paintAside(ctx, cube, place, state, theme, colours, tint);
}

function paintTitle(ctx, cube, name, box, state, theme, width) {
  const [row, col, depth] = cube.panels[name], y = name === "kc" ? box.y - 24 : 14;
  ctx.font = font(theme, 14, 650);
  const chosen = cube.axes[AXIS[depth]].name[state.cell[AXIS[depth]]], lead = ctx.measureText(`${row} × ${col}  at ${depth} `).width + 12;
  // Left of the lower panel is room for a title that the page is too narrow for.
  const over = box.x + lead + Math.min(ctx.measureText(chosen).width, 140) - width, start = name === "kc" ? box.x - clamp(over, 0, 90) : box.x;
  let x = start;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  const write = (text, colour, weight) => {
    ctx.font = font(theme, 14, weight);
    ctx.fillStyle = colour;
    ctx.fillText(text, x, y);
    x += ctx.measureText(text).width;
  };
  write(row, theme[row], 650);
  write(" × ", theme.muted, 400);
  write(col, theme[col], 650);
  if (state.focus && state.panel === name) {
    ctx.fillStyle = theme.text;
    ctx.fillRect(start, y + 5, x - start, 1.5);
  }
  write("  at " + depth + " ", theme.muted, 400);
  ctx.font = font(theme, 14, 650);
  const limit = name === "qk" ? 72 : clamp(width - x - 12, 16, 140), word = fitText(ctx, chosen, limit), wide = ctx.measureText(word).width + 12;
  ctx.fillStyle = theme[depth + "_mark"];
  ctx.fillRect(x, y - 15, wide, 20);
  ctx.fillStyle = theme[depth];
  ctx.fillRect(x, y + 5, wide, 2);
  x += 6;
  write(word, theme.text, 650);
}

function paintLabels(ctx, cube, place, state, theme, tint) {
  const { qk, qc, kc } = place.boxes, [q, k, c] = state.cell, [query, key, context] = cube.axes, hover = state.hover ?? [-1, -1, -1];
  const total = (n, f) => Array.from({ length: n }, (_, i) => f(i)), [Q, K, C] = cube.sizes, room = place.room;
  const weights = [null, total(K, (i) => cube.overThird(q, i)), alongThird(cube, state.cell)];
  rowLabels(ctx, qk.rows, query, qk.x, qk.y, theme, { chosen: q, colour: tint.query, hover: hover[0], weights: total(Q, (i) => cube.overThird(i, k)), room });
  rowLabels(ctx, kc.rows, key, kc.x, kc.y, theme, { chosen: k, colour: tint.key, hover: hover[1], weights: weights[1], room });
  columnLabels(ctx, qk.cols, key, qk.x, qk.y, theme, { chosen: k, colour: tint.key, hover: hover[1], weights: weights[1], room });
  columnLabels(ctx, qc.cols, context, qc.x, qc.y, theme, { chosen: c, colour: tint.third, hover: hover[2], weights: weights[2], room });
}

/** What stands under the third axis: the sum over keys; where that is always one, the chosen pair's own values. */
function alongThird(cube, [q, k]) {
  const value = (i) => numbersOf(cube, [q, k, i])[cube.payload.quantity];
  return Array.from({ length: cube.sizes[2] }, (_, i) => (cube.overKey ? cube.overKey(q, i) : Math.max(value(i), -1e6)));
}

function paintBars(ctx, cube, place, state, theme, tint) {
  const { qk, qc, kc } = place.boxes, [q, k, c] = state.cell, [Q, K, C] = cube.sizes, { over, quantity } = cube.payload;
  const inside = over.includes(cube.third), note = !inside ? "mean" : quantity === "weight" ? "sum" : "joint";
  const list = (n, f) => Array.from({ length: n }, (_, i) => f(i)), beside = (box) => box.x + box.cols.size + 6;
  if (cube.overKey) bars(ctx, qk.rows, beside(qk), qk.y, theme, { values: list(Q, (i) => cube.overKey(i, c)), chosen: q, colour: tint.query });
  bars(ctx, qc.rows, beside(qc), qc.y, theme, { values: list(Q, (i) => cube.overThird(i, k)), chosen: q, colour: tint.query });
  bars(ctx, kc.rows, beside(kc), kc.y, theme, { values: list(K, (i) => cube.overThird(q, i)), chosen: k, colour: tint.key });
  bars(ctx, kc.cols, kc.x, kc.y + kc.rows.size + 6, theme, { values: alongThird(cube, state.cell), chosen: c, colour: tint.third, down: true });
  ctx.font = font(theme, 12);
  ctx.fillStyle = theme.muted;
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = "left";
  for (const box of cube.overKey ? [qk, qc, kc] : [qc, kc]) ctx.fillText(note, beside(box) + 2, box.y - 6);
  ctx.textAlign = "right";
  ctx.fillText(inside ? note : "this pair", kc.x - 8, kc.y + kc.rows.size + 16);
  const whole = inside ? "the whole query, sums to 1" : "each column sums to 1";
  if (quantity === "weight" && kc.cols.size > 400) ctx.fillText(whole, kc.x + kc.cols.size, kc.y - 20);
  if (!isFolded(cube)) captions(ctx, cube.axes[2], cube.payload.names, kc.cols, kc.x, kc.y + kc.rows.size + 52, theme);
}

/** Under the context axis: which text its words are of. */
function captions(ctx, tokens, names, layout, x, y, theme) {
  ctx.textAlign = "center";
  ctx.font = font(theme, 12);
  for (const name of new Set(tokens.text.filter(Boolean))) {
    const from = x + layout.at[tokens.text.indexOf(name)], to = x + layout.at[tokens.text.lastIndexOf(name)] + layout.pitch;
    ctx.fillStyle = theme.hairline;
    ctx.fillRect(from, y, to - from - layout.line, 1);
    ctx.fillStyle = theme.muted;
    const fits = (text) => ctx.measureText(text).width < to - from + 4, { long, short } = names[name];
    if (fits(short)) ctx.fillText(fits(long) ? long : short, (from + to) / 2, y + 14);
  }
}

function paintAside(ctx, cube, place, state, theme, colours, tint) {
  const { left, height, aside } = place, { scale, quantity, uniform } = cube.payload, folded = isFolded(cube), x = Math.min(24, left * 0.1);
  const size = Math.min((left - 62) / 1.42, 140, height - aside - 170);
  if (size > 40) orientation(ctx, 58, aside + 14, size, cube, state, theme, tint);
  const value = numbersOf(cube, state.cell)[quantity];
  colourBar(ctx, x, height - 78, Math.min(left - x - 8, 220), scale, colours, theme, { mark: `${folded ? "even share" : cube.payload.against ? "even, no mask" : "uniform"} 1/${count(Math.round(1 / uniform))}`, pointer: value });
}

/** A small cube with the three cutting planes: query down, key across, context into the depth. */
function orientation(ctx, x, y, size, cube, state, theme, tint) {
  const height = size * 0.66, deep = [size * 0.42, -size * 0.26], base = y - deep[1], share = state.cell.map((i, a) => (i + 0.5) / cube.sizes[a]);
  const point = (k, q, c) => [x + k * size + c * deep[0], base + q * height + c * deep[1]];
  const trace = (...points) => {
    ctx.beginPath();
    points.forEach((p, i) => (i ? ctx.lineTo(...point(...p)) : ctx.moveTo(...point(...p))));
  };
  const [q, k, c] = share;
  const planes = [[cube.third, [0, 0, c], [1, 0, c], [1, 1, c], [0, 1, c]], ["key", [k, 0, 0], [k, 0, 1], [k, 1, 1], [k, 1, 0]], ["query", [0, q, 0], [1, q, 0], [1, q, 1], [0, q, 1]]];
  for (const [axis, ...corners] of planes) {
    trace(...corners);
    ctx.closePath();
    ctx.globalAlpha = 0.18;
    ctx.fillStyle = theme[axis];
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.strokeStyle = theme[axis];
    ctx.lineWidth = 1.25;
    ctx.stroke();
  }
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = 1;
  for (const line of [[[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [1, 1, 0]], [[1, 0, 0], [1, 0, 1]]]) {
    trace(...line);
    ctx.stroke();
  }
  const [px, py] = point(k, q, c);
  ctx.beginPath();
  ctx.arc(px, py, 4, 0, 7);
  ctx.fillStyle = theme.page;
  ctx.fill();
  ctx.beginPath();
  ctx.arc(px, py, 2.75, 0, 7);
  ctx.fillStyle = theme.text;
  ctx.fill();
  ctx.font = font(theme, 12, 600);
  ctx.textBaseline = "alphabetic";
  const write = (axis, align, at, dx, dy) => {
    ctx.fillStyle = theme[axis];
    ctx.textAlign = align;
    ctx.fillText(`${axis} ${cube.sizes[AXIS[axis]]}`, at[0] + dx, at[1] + dy);
  };
  write("key", "center", point(0.5, 1, 0), 0, 16);
  write(cube.third, "right", point(0, 0, 0.5), -6, -2);
  write("query", "right", point(0, q, 0), -6, 4);
}
