// The heading of a panel: its title; of a model what that answers; lines of words.

import { clamp } from "../arrays.js";
import { drawText, wrapText } from "../text_drawing.js";
import { font } from "../theme.js";
import { fillTemplate, fillText, isChosen } from "./description.js";

const NUMBER = 150; // pixels to the end of a number behind words
const LINE = 17; // of a second line of a heading
const TIGHT = 220; // pixels of a panel whose verdict takes its note's place
const TITLE = { size: 15, weight: 650 };
const WORDS = 3; // lines of words that a heading has room for
const SPACE = 10; // between a title and its note

/** How wide a title and its note are. */
export function headingWidth(ctx, { title, note }, theme) {
  ctx.font = font(theme, TITLE.size, TITLE.weight);
  const wide = ctx.measureText(title).width;
  ctx.font = font(theme, 13);
  return wide + (note ? SPACE + ctx.measureText(note).width : 0);
}

/** The lines of words of each panel, and the pixels of those for which a heading has no room. */
export function wrapWords(ctx, panels, room, theme) {
  const words = panels.map(({ lines = [] }) =>
    lines.flatMap((text) => wrapText(ctx, text, room, theme)),
  );
  return { words, further: 18 * Math.max(0, ...words.map(({ length }) => length - WORDS)) };
}

export function paintHeading(ctx, box, data, theme, state) {
  const { panel } = box;
  const top = box.y - box.top;
  const x = box.left ?? box.x;
  if (panel.answer) {
    const chosen = isChosen(data, panel, state.cell) && data.panels.length > 1;
    return paintModel(ctx, panel, x, top, box.span, chosen, theme);
  }
  if (panel.lines && !panel.follows) {
    ctx.fillStyle = theme.hairline;
    ctx.fillRect(x, top, box.span, 1);
    paintTitle(ctx, panel.title, x, top + 25, theme, box.span);
    return paintLines(ctx, box.words, x, top + 48, box.span, theme);
  }
  const room = Math.max(box.span + (panel.follows ? 0 : 18), 100);
  const [title, note] = [panel.title, panel.note ?? ""].map((words) =>
    panel.follows ? fillText(data, words, panel, state.cell) : words,
  );
  if (panel.group || panel.cells.order) {
    const below = box.room >= LINE && widthOf(ctx, [[note, ""]], theme) <= room;
    return paintTitleAndNote(ctx, title, [[note, ""]], x, top + 16, room, theme, { below });
  }
  const look = { ...TITLE, theme, room };
  const wide = drawText(ctx, title, x, top + 16, theme.text, look);
  if (isChosen(data, panel, state.cell) && data.panels.length > 1)
    ctx.fillRect(x, top + 21, wide, 2);
  if (room - wide > 60)
    drawText(ctx, note, x + wide + SPACE, top + 16, theme.muted, {
      theme,
      room: room - wide - SPACE,
    });
  if (panel.lines) paintLines(ctx, panel.lines, box.x, top + 38, box.columns.size, theme);
  else paintAxisTitles(ctx, box, data, theme, top);
}

/** A title with a note behind it, or where that has no room below it, if it may; else without. */
export function paintTitleAndNote(ctx, title, note, x, y, room, theme, may = {}) {
  const { behind = true, below = true, cut = false } = may;
  const wide = drawText(ctx, title, x, y, theme.text, { size: 15, weight: 650, theme, room });
  const fits = room - wide - 10 >= widthOf(ctx, note, theme);
  const look = { theme, room: room - wide - 10 };
  const text = note.map(([words]) => words).join("");
  if (behind && fits) paintPieces(ctx, note, x + wide + 10, y, theme);
  else if (behind && cut) drawText(ctx, text, x + wide + 10, y, theme.muted, look);
  else if (below) paintPieces(ctx, note, x, y + 18, theme);
}

export function widthOf(ctx, pieces, theme) {
  ctx.font = font(theme);
  return ctx.measureText(pieces.map(([text]) => text).join("")).width;
}

/** Pieces of a template in the colours of their words; returns where they end. */
const paintPieces = (ctx, pieces, x, y, theme) =>
  pieces.reduce((end, [text, ink]) => {
    const look = { theme, weight: ink ? 650 : 400 };
    return end + drawText(ctx, text, end, y, theme[ink] ?? theme.muted, look);
  }, x);

/** Lines of templates of the chosen panel; what stands behind a tab is a number at the right. */
export const paintTemplates = (ctx, lines, panel, data, cell, x, y, room, theme) =>
  lines.forEach((line, i) => {
    const [text, number] = line.split("\t");
    const pieces = fillTemplate(data, text, panel, cell);
    if (number === undefined && pieces.length === 1)
      drawText(ctx, line, x, y + 18 * i, theme.muted, { theme, room });
    else paintPieces(ctx, pieces, x, y + 18 * i, theme);
    const look = { weight: 650, align: "right", theme };
    const said = number === undefined ? "" : fillText(data, number, panel, cell);
    drawText(ctx, said, x + NUMBER, y + 18 * i, theme.text, look);
  });

/** What the axes are, where that is said: down beside the first panel, across above each. */
function paintAxisTitles(ctx, { panel, x, y, labelled }, data, theme, top) {
  const [down, across] = [data.axes[panel.rows], data.axes[panel.columns]];
  if (!across?.title) return;
  const look = { weight: 600, theme };
  drawText(ctx, `${across.title} →`, x, top + 38, theme[across.ink], look);
  if (labelled && panel === data.panels[0])
    drawText(ctx, `${down.title} ↓`, x - 8, y - 8, theme[down.ink], { ...look, align: "right" });
}

export const paintLines = (ctx, lines, x, y, room, theme) =>
  lines.forEach((line, i) => drawText(ctx, line, x, y + 18 * i, theme.muted, { theme, room }));

/** A title: smaller before it is cut. */
export function paintTitle(ctx, words, x, y, theme, room) {
  ctx.font = font(theme, 17, 650);
  const size = ctx.measureText(words).width > room ? 14 : 17;
  return drawText(ctx, words, x, y, theme.text, { size, weight: 650, theme, room });
}

/**
 * A line above, the name with its colour, the verdict with its probability, the score on the test
 * set.
 */
function paintModel(ctx, { title, note = "", ink, answer }, x, y, wide, chosen, theme) {
  const colour = theme[ink] ?? theme.bar;
  const tight = wide < TIGHT;
  const badge = ink ? 19 : 0;
  ctx.fillStyle = chosen ? theme.text : theme.hairline;
  ctx.fillRect(x, y, wide, chosen ? 2 : 1);
  const chip =
    answer.right === null
      ? 0
      : paintVerdict(ctx, answer.right, x + wide, y + (tight ? 11 : 36), theme);
  const room = wide - badge - (tight ? chip : 0);
  ctx.fillStyle = colour;
  if (badge) ctx.fillRect(x, y + 14, 11, 11);
  const end = badge + 8 + paintTitle(ctx, title, x + badge, y + 25, theme, room);
  if (!tight && wide - end > 60)
    drawText(ctx, note, x + end, y + 25, theme.muted, { theme, room: wide - end });
  const right = x + wide - (tight ? 0 : chip);
  const look = { size: 14, theme };
  const share = drawText(ctx, answer.share, right, y + 50, theme.text, { ...look, align: "right" });
  const left = right - x - share - 8;
  drawText(ctx, answer.label, x, y + 50, theme.text, { ...look, weight: 650, room: left });
  ctx.fillStyle = theme.hairline;
  ctx.fillRect(x, y + 58, wide, 6);
  ctx.fillStyle = colour;
  ctx.fillRect(x, y + 58, wide * clamp(answer.probability, 0, 1), 6);
  drawText(ctx, answer.score, x, y + 82, theme.muted, { theme, room: wide });
}

/**
 * "right" is outlined, "wrong" is filled: told apart without colour.  Returns the room it takes.
 */
function paintVerdict(ctx, right, end, y, theme) {
  const weight = right ? 650 : 400;
  const label = right ? "right" : "wrong";
  ctx.font = font(theme, 13, weight);
  const wide = ctx.measureText(label).width + 14;
  ctx.fillStyle = theme.faint;
  ctx.strokeStyle = theme.text;
  ctx.lineWidth = 1;
  right
    ? ctx.strokeRect(end - wide + 0.5, y + 0.5, wide - 1, 18)
    : ctx.fillRect(end - wide, y, wide, 19);
  const colour = right ? theme.text : theme.muted;
  drawText(ctx, label, end - wide / 2, y + 14, colour, { weight, align: "center", theme });
  return wide + 8;
}
