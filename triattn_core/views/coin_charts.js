// Below COIN's maps: one token through the blocks, and what is said with one thing switched off.

const MOST = 3; // keys beside the chosen one

/** Which keys are followed: the chosen one, and those that hold most of the query in some block. */
function followed(data, [q, k]) {
  const n = sizeOfAxis(data, "key"), best = data.blocks.flatMap((block) => (block ? [block.weight.subarray(q * n, (q + 1) * n).reduce((top, value, i, row) => (value > row[top] ? i : top), 0)] : []));
  return [...new Set([k, ...best])].slice(0, MOST + 1);
}

/** What the lines are, as far as they are drawn. */
function legendOf(data, keys) {
  const plain = data.blocks.filter((block) => block?.plain).length;
  const without = plain ? [plain > 1 ? "dashed: without context" : "hollow: without context"] : [];
  return [...without, ...(keys.length > 1 ? ["grey: the largest of a block"] : [])].join("; ");
}

function paintThrough(ctx, { y, left, said }, data, theme, state) {
  const [q, k] = state.cell, { query, key } = data.axes, n = sizeOfAxis(data, "key"), last = data.blocks.length - 1;
  const x = 34, long = left - x - 100, top = y + 18 * said + 16, keys = followed(data, state.cell);
  const value = (block, name, i) => block?.[name]?.[q * n + i] ?? null;
  const every = data.blocks.flatMap((block) => keys.flatMap((i) => [value(block, "weight", i), value(block, "plain", k)])).filter((one) => one !== null);
  const most = Math.max(...every, 1e-9), high = [0.1, 0.2, 0.5, 1].find((one) => one >= most) ?? 1;
  const placeX = (i) => x + (last ? (i / last) * long : long / 2), placeY = (v) => top + CHART * (1 - v / high);
  const wide = text(ctx, "One token through the blocks", 0, y + 12, theme.text, { size: 15, weight: 650, theme });
  const [from, down] = said > 2 ? [0, 31] : [wide + 10, 12];
  text(ctx, `what ${spoken(query, q)} aligns to`, from, y + down, theme.query, { theme, room: left - from });
  text(ctx, legendOf(data, keys), 0, y + 18 * said - 5, theme.muted, { theme, room: left });
  for (const tick of [0, high / 2, high]) {
    ctx.fillStyle = theme.hairline;
    ctx.fillRect(x, placeY(tick), long, 1);
    text(ctx, short(tick), x - 6, placeY(tick) + 4, theme.muted, { size: 12, align: "right", theme });
  }
  data.blocks.forEach((block, i) => text(ctx, `block ${i + 1}${block ? "" : " off"}`, placeX(i), top + CHART + 18, theme.muted, { size: 12, align: "center", theme }));
  const ends = [], draw = (name, i, colour, dash, thick) => {
    const points = data.blocks.map((block, b) => [placeX(b), value(block, name, i)]).filter(([, v]) => v !== null).map(([px, v]) => [px, placeY(v)]);
    path(ctx, points, colour, dash, thick, theme);
    return points.at(-1);
  };
  for (const i of [...keys].reverse()) {
    const end = draw("weight", i, i === k ? theme.key : theme.bar, [], i === k ? 2.5 : 1.5);
    if (end) ends.push({ i, x: end[0], y: end[1] });
  }
  draw("plain", k, theme.key, [4, 3], 1.5);
  spread(ends, 15, top - 4, top + CHART - 2).forEach(({ i, x: from, y: to }) => text(ctx, spoken(key, i), from + 10, to + 4, i === k ? theme.key : theme.muted, { weight: i === k ? 700 : 400, theme, room: 90 }));
}

/** A line through points; of a dashed one they are hollow. */
function path(ctx, points, colour, dash, thick, theme) {
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = thick;
  ctx.setLineDash(dash);
  ctx.beginPath();
  points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.stroke();
  ctx.setLineDash([]);
  for (const [x, y] of points) {
    ctx.fillStyle = dash.length ? theme.page : colour;
    ctx.fillRect(x - 2.5, y - 2.5, 5, 5);
    if (dash.length) ctx.strokeRect(x - 2.5, y - 2.5, 5, 5);
  }
}

/** Labels moved apart to `need` pixels, in their order. */
function spread(labels, need, low, high) {
  const found = labels.sort((one, other) => one.y - other.y).map((one) => ({ ...one }));
  found.forEach((one, i) => { one.y = Math.max(one.y, i ? found[i - 1].y + need : low); });
  for (let i = found.length - 1; i >= 0; i--) found[i].y = Math.min(found[i].y, i + 1 < found.length ? found[i + 1].y - need : high);
  return found;
}

function paintAnswers(ctx, { answers: { x: left, y, bars, lines, tight }, width }, data, theme) {
  const from = left + 128, long = width - from - 118, threshold = from + long / 2;
  head(ctx, "With one thing switched off", `probability of “${data.label}”`, left, y + 12, width - left, theme);
  data.answers.forEach(({ off, name, probability, flips }, i) => {
    const top = bars + i * LINE, chosen = off === data.off, weight = chosen ? 700 : 400, change = probability - data.answers[0].probability;
    text(ctx, name, from - 10, top + 12, chosen ? theme.text : theme.muted, { weight, align: "right", theme });
    ctx.fillStyle = theme.faint;
    ctx.fillRect(from, top + 3, long, 9);
    ctx.globalAlpha = chosen ? 1 : 0.6;
    ctx.fillStyle = theme.coin;
    ctx.fillRect(from, top + 3, long * clamp(probability, 0, 1), 9);
    ctx.globalAlpha = 1;
    text(ctx, probability.toFixed(3), from + long + 52, top + 12, theme.text, { weight, align: "right", theme });
    const said = flips ? "flips" : i ? (change < 0 ? "−" : "+") + Math.abs(change).toFixed(3) : "";
    text(ctx, said, width, top + 12, flips ? theme.text : theme.muted, { weight: flips ? 700 : 400, align: "right", theme });
  });
  const foot = bars + data.answers.length * LINE, ticks = { size: 12, theme };
  ctx.fillStyle = theme.muted;
  ctx.fillRect(threshold - 0.5, bars - 1, 1, foot - bars + 3);
  text(ctx, "0", from, foot + 14, theme.muted, ticks);
  text(ctx, tight ? "0.5" : "0.5, the threshold", threshold, foot + 14, theme.muted, { ...ticks, align: "center" });
  text(ctx, "1", from + long, foot + 14, theme.muted, { ...ticks, align: "right" });
  if (tight) text(ctx, "the threshold", threshold, foot + 29, theme.muted, { ...ticks, align: "center" });
  paragraph(ctx, lines, left, foot + (tight ? 52 : 38), theme.muted, theme);
}
