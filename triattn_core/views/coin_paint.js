// COIN's blocks as they are drawn: maps, self-alignments, gates, and the numbers of the chosen cell.

/** The whole figure; `ctx` may be the screen's, a PNG's or an SVG's.  state: {cell, hover, tables}; where the cell's block is
    switched off, the nearest other one's is shown. */
function paintAll(ctx, data, layout, theme, given) {
  const cell = lived(data, given.cell) ?? given.cell, state = { ...given, cell, off: cell[2] === given.cell[2] ? null : given.cell[2] };
  given.order = data.blocks[cell[2]]?.order; // where a click on the gate leads
  layout.lines.forEach((line) => paintLine(ctx, line, layout, data, theme, state));
  layout.heads.forEach(({ map, x, y, room }) => head(ctx, map.title, map.note, x, y, room, theme, layout.stacked));
  for (const { x, y } of layout.labels) columnLabels(ctx, layout.columns, data.axes.key, x, y, theme, { chosen: cell[1], hover: state.hover?.[1] ?? -1, colour: theme.key, room: 96 });
  layout.boxes.forEach((box) => paintMap(ctx, box, layout, data, theme, state));
  paintSelves(ctx, layout, data, theme, state);
  paintLegends(ctx, layout, data, theme, state);
  if (layout.gateNote) paragraph(ctx, layout.gateNote.lines, 0, layout.gateNote.y, theme.muted, theme);
  if (layout.features) paintFeatures(ctx, layout.features, data, theme, state);
  paintThrough(ctx, layout.through, data, theme, state);
  paintAnswers(ctx, layout, data, theme);
}

// ---- words ------------------------------------------------------------------------------------------------------

/** Words in lines no wider than `room`. */
function linesIn(ctx, words, room, theme) {
  const lines = [""];
  ctx.font = font(theme);
  for (const word of words.split(" ")) {
    const longer = (lines.at(-1) + " " + word).trim();
    if (ctx.measureText(longer).width <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.filter(Boolean);
}

const paragraph = (ctx, lines, x, y, colour, theme) => lines.forEach((line, i) => text(ctx, line, x, y + 18 * i, colour, { theme }));

/** A heading with what it means behind it, or below it where there is no room; `single`: in one line or not at all. */
function head(ctx, words, note, x, y, room, theme, single = false) {
  const wide = text(ctx, words, x, y, theme.text, { size: 15, weight: 650, theme, room });
  ctx.font = font(theme);
  const behind = room - wide - 10 >= ctx.measureText(note).width;
  if (behind) text(ctx, note, x + wide + 10, y, theme.muted, { theme });
  else if (!single) text(ctx, note, x, y + 18, theme.muted, { theme, room });
}

// ---- a block ----------------------------------------------------------------------------------------------------

function paintLine(ctx, { block, index, y }, layout, data, theme, state) {
  const { rows, narrow, stacked, lean } = layout, chosen = index === state.cell[2], middle = y + Math.max(rows.size, narrow ? 24 : 44) / 2;
  if (stacked) text(ctx, `Block ${index + 1}`, 0, y - lean - TITLE - 6, theme.text, { size: 17, weight: 650, theme });
  else text(ctx, String(index + 1), 0, middle + (narrow ? 8 : 16), chosen ? theme.text : theme.muted, { size: 24, weight: 650, theme });
  if (!narrow) text(ctx, "block", 0, middle - 10, theme.muted, { theme });
  if (chosen && !narrow) ctx.fillRect(0, middle + 22, 14, 2);
  if (layout.bars && (stacked || !index)) paintGateHead(ctx, layout, stacked ? y - lean - 6 : 16, theme);
  if (block?.gate) paintGate(ctx, block, y, layout, theme, state);
}

const GATE_NOTES = ["0 takes in, 1 keeps", "line: half of the features"];

function paintGateHead(ctx, { bars, gate, narrow, width }, y, theme) {
  const more = { theme, room: Math.min(gate, width - bars) };
  text(ctx, "Gate", bars, y, theme.text, { size: 15, weight: 650, ...more });
  if (!narrow) GATE_NOTES.forEach((said, i) => text(ctx, said, bars, y + 18 * (i + 1), theme.muted, more));
}

/** A token's gate: a bar for the mean of its features, on it a line where the middle half of them lies. */
function paintGate(ctx, block, y, { rows, bars, gate }, theme, state) {
  const q = state.cell[0], long = gate - 58, thick = clamp(rows.pitch * 0.5, 2, 9);
  block.gate.forEach((value, i) => {
    const from = y + rows.at[i] + (rows.pitch - rows.line - thick) / 2;
    ctx.fillStyle = theme.faint;
    ctx.fillRect(bars, from, long, thick);
    ctx.fillStyle = theme.coin;
    ctx.globalAlpha = i === q ? 0.9 : 0.45;
    ctx.fillRect(bars, from, long * clamp(value, 0, 1), thick);
    ctx.globalAlpha = 1;
    ctx.fillStyle = i === q ? theme.text : theme.muted;
    ctx.fillRect(bars + long * block.gate_low[i], from + thick / 2 - 0.75, Math.max(long * (block.gate_high[i] - block.gate_low[i]), 1.5), 1.5);
    text(ctx, value.toFixed(2), bars + long + 8, from + thick / 2 + 4.5, i === q ? theme.text : theme.muted, { weight: i === q ? 700 : 400, theme });
  });
}

function paintMap(ctx, { block, map, x, y, index }, layout, data, theme, state) {
  const { rows, columns, maps } = layout, [q, k, chosen] = state.cell, n = sizeOfAxis(data, "key"), first = map === maps[0];
  if (!block) return paintEmpty(ctx, x, y, columns.size, rows.size, first ? `Block ${index + 1} is switched off: it hands on what it was given.` : "", theme);
  if (first || layout.stacked) rowLabels(ctx, rows, data.axes.query, layout.x, y, theme, { chosen: q, hover: state.hover?.[0] ?? -1, colour: theme.query, room: layout.own - 12 });
  const values = block[map.name], scale = data[onMap[map.name]];
  if (!values) return paintEmpty(ctx, x, y, columns.size, rows.size, map.empty ?? "", theme);
  cells(ctx, rows, columns, x, y, (r, c) => level(scale, values[r * n + c]), state.tables[scale.kind]);
  frame(ctx, columns, k, y - 3, y + rows.size + 2, x, theme.key, true);
  frame(ctx, rows, q, x - 3, x + columns.size + 2, y, theme.query);
  if (index === chosen) ring(ctx, rows, columns, q, k, x, y, theme);
}

/** The place of a map that has no cells, and why. */
function paintEmpty(ctx, x, y, wide, high, why, theme) {
  ctx.strokeStyle = theme.hairline;
  ctx.lineWidth = 1;
  ctx.strokeRect(x + 0.5, y + 0.5, wide - 1, high - 1);
  paragraph(ctx, linesIn(ctx, why, wide - 20, theme), x + 10, y + 22, theme.muted, theme);
}

function paintSelves(ctx, layout, data, theme, state) {
  const { selves, narrow } = layout, [q, k, chosen, , a, b] = state.cell;
  if (!selves.length) return;
  head(ctx, "Self-alignment", "each word over its own sentence", selves[0].x, narrow ? selves[0].y - 42 : 16, narrow ? layout.width : 2 * selves[0].room + 20, theme);
  for (const { block, index, axis, s, x, y, down, across, room } of selves) {
    const name = (narrow ? `block ${index + 1}, ` : "") + data.sides[s];
    if (narrow || !index) text(ctx, name, x, y - 8, theme[axis], { weight: 650, theme });
    if (!block?.own.length) {
      paintEmpty(ctx, x, y, room, down.size, "", theme);
      if (down.size > 24) text(ctx, "off", x + 10, y + 22, theme.muted, { theme });
      continue;
    }
    const n = sizeOfAxis(data, axis), [from, to] = s ? [k, b] : [q, a];
    cells(ctx, down, across, x, y, (r, c) => level(data.scale, block.own[s][r * n + c]), state.tables.log);
    frame(ctx, down, from, x - 2, x + across.size + 1, y, theme[axis]);
    if (index === chosen) ring(ctx, down, across, from, to, x, y, theme);
  }
}

// ---- scales and the chosen cell ---------------------------------------------------------------------------------

function paintLegends(ctx, layout, data, theme, state) {
  const { legends, rows, columns } = layout, [, k, chosen] = state.cell, block = data.blocks[chosen], i = at(data, state.cell), [cells, all] = evenOf(data, k);
  const { x, y, wide } = legends.scale, scale = { ...data.scale, uniform: cells / all };
  const mark = data.folded ? `even share of ${spoken(data.axes.key, k)}, ${cells}/${all}` : `uniform, 1/${all}`;
  colourBar(ctx, x, y, wide, scale, state.tables.log, theme, { mark, pointer: block?.weight[i] ?? null });
  paintChosen(ctx, layout, data, theme, state);
  if (!legends.gap) return;
  const signs = signsOf(rows, columns, data.blocks.flatMap((one) => [...(one?.changed ?? [])]));
  colourBar(ctx, legends.gap.x, legends.gap.y, legends.gap.wide, data.gap, state.tables.signed, theme, { pointer: block?.changed?.[i] ?? null, signs });
}

/** The exact numbers of the chosen cell. */
function paintChosen(ctx, { legends, maps }, data, theme, state) {
  const { x, y, wide } = legends.chosen, [q, k, chosen] = state.cell, block = data.blocks[chosen], i = at(data, state.cell);
  const from = text(ctx, spoken(data.axes.query, q), x, y, theme.query, { weight: 650, theme, room: wide * 0.32 });
  const to = from + text(ctx, "→", x + from + 5, y, theme.muted, { theme }) + 10;
  const end = to + text(ctx, spoken(data.axes.key, k), x + to, y, theme.key, { weight: 650, theme, room: wide * 0.32 });
  const where = block ? `in block ${chosen + 1}${state.off === null ? "" : `; ${state.off + 1} is off`}` : "all is switched off";
  text(ctx, where, x + end + 8, y, theme.muted, { theme });
  if (!block) return;
  maps.filter(({ name }) => name).forEach(({ name, title }, m) => {
    const value = block[name]?.[i] ?? NaN, told = (name === "changed" && value > 0 ? "+" : "") + number(value);
    text(ctx, title, x, y + 19 * (m + 1), theme.muted, { theme });
    text(ctx, told, x + 150, y + 19 * (m + 1), theme.text, { weight: 650, align: "right", theme });
  });
}

/** The gate of the chosen block, token × feature. */
function paintFeatures(ctx, features, data, theme, state) {
  const { x, y, rows, columns, top, room, tokens, scale } = features, [q, , chosen, f] = state.cell, block = data.blocks[chosen];
  const order = `token × feature, ${data.wide} features ordered by likeness`;
  head(ctx, `Gate of block ${chosen + 1}`, state.off === null ? order : `block ${state.off + 1} is switched off`, x, top + 14, room, theme, true);
  const place = block.order.indexOf(f), named = { ...tokens, label: block.order.map((i) => String(i + 1)) };
  rowLabels(ctx, rows, data.axes.query, x, y, theme, { chosen: q, hover: state.hover?.[0] ?? -1, colour: theme.query, room: 110 });
  text(ctx, `feature ${named.label[place]}`, clamp(x + columns.at[place] - 24, x, x + columns.size - 70), y - 8, theme.feature, { weight: 650, theme });
  cells(ctx, rows, columns, x, y, (r, c) => level(data.gate, block.features[r * data.wide + block.order[c]]), state.tables.log);
  frame(ctx, columns, place, y - 3, y + rows.size + 2, x, theme.feature, true);
  frame(ctx, rows, q, x - 3, x + columns.size + 2, y, theme.query);
  ring(ctx, rows, columns, q, place, x, y, theme);
  colourBar(ctx, x, scale, clamp(columns.size, Math.min(200, room), 260), data.gate, state.tables.log, theme, { pointer: block.features[q * data.wide + f] });
}
