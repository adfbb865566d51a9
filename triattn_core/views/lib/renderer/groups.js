// Panels in groups: a line a group with its name and its small panels left of it, or below each
// other where a line has no room.

import { clamp } from "../arrays.js";
import { layoutAxis } from "../axis.js";
import { drawText } from "../text_drawing.js";
import { chosenPanel } from "./description.js";
import { paintTitleAndNote } from "./heading.js";

const WIDE = 900; // pixels of a figure that has its small panels left of the lines
const NAME = [30, 48]; // of a line's name: its last word; all of them
const APART = 14; // between small panels
const LINES = [34, 62]; // the least height of a line
const BETWEEN = 16; // lines
const LEAST = 150; // of a panel beside small ones
const TITLE = 32; // of a panel below another
const GROUP = 30; // of a group below another

const smallIn = (data, group) =>
  data.panels.filter((panel) => panel.small && panel.group === group);

/** What stands left of the lines, and these, as layoutLine(limits) lays them out. */
export function aheadOf(data, line, width, layoutLine) {
  const [{ group }] = line;
  if (!group) return { room: 0, line: layoutLine({}) };
  const many = line.filter((panel) => panel.group === group).length;
  const size = Math.round(clamp(width * 0.086, 70, 112));
  const small = smallIn(data, group).length * (size + APART);
  for (const wide of width < WIDE ? [false] : [true, false]) {
    const room = wide ? NAME[1] + (small && small + 10) : NAME[0];
    const beside = layoutLine({ ahead: room, ...(wide && { finest: 0 }) });
    if (beside.across === many && (!wide || beside.wide >= LEAST))
      return { room, size, wide, line: beside };
  }
  return { room: 0, size, wide: false, stacked: true, line: layoutLine({ most: 1 }) };
}

/** Lines of groups, or all panels below each other; returns where they end. */
export function placeGroups({ boxes, ahead, lean }, across, above) {
  const [{ rows }] = boxes;
  const high = ahead.stacked ? rows.size : Math.max(rows.size, LINES[Number(ahead.wide)]);
  let end = -BETWEEN;
  boxes.forEach((box, i) => {
    const begins = box.panel.group !== boxes[i - 1]?.panel.group;
    const named = begins && (ahead.stacked || !i);
    if (ahead.stacked || begins) {
      const top = named ? above : ahead.stacked ? TITLE : 0;
      const y = Math.round(
        end + (begins ? BETWEEN : 0) + (begins && ahead.stacked ? GROUP : 0) + top,
      );
      Object.assign(box, { y, top, named, labelled: true, begins });
      end = y + high;
    } else {
      const [first] = boxes.slice(i - (i % across));
      Object.assign(box, { y: first.y, top: first.top, named: first.named });
    }
    box.room = box.named ? box.top - lean - 26 : 0; // of a second line of its heading
  });
  return end;
}

/** Small panels left of their lines, or as many in a line as fit below; returns where all end. */
export function placeSmall({ boxes, ahead, width }, data, end) {
  const lines = boxes.filter(({ begins }) => begins);
  const count = smallIn(data, lines[0].panel.group).length;
  if (!count) return end;
  const size = ahead.wide ? ahead.size : Math.round(clamp(width / 4 - 18, 60, 112));
  const pairs = Math.max(1, Math.floor((width + 16) / (count * (size + 16))));
  lines.forEach(({ panel: { group }, rows, y }, i) =>
    smallIn(data, group).forEach((panel, s) => {
      const words = data.axes[panel.rows];
      const high = ahead.wide ? Math.min(rows.size, size) : size;
      const [down, across] = [high, size].map((room) =>
        layoutAxis(words, room / words.label.length, 0),
      );
      const place = ahead.wide
        ? { x: NAME[1] + s * (size + APART), y }
        : {
            x: 4 + (count * (i % pairs) + s) * (size + 16),
            y: end + 92 + Math.floor(i / pairs) * (size + 34),
          };
      const title = ahead.wide ? (i ? "" : panel.title) : `${group}, ${panel.title}`;
      const heading = !i && !s ? { at: ahead.wide ? 16 : place.y - 42, room: width } : null;
      if (heading && ahead.wide) heading.room = count * (size + APART) + 10;
      boxes.push({
        panel,
        rows: down,
        columns: across,
        ...place,
        top: 0,
        span: size,
        title,
        heading,
      });
    }),
  );
  return ahead.wide ? end : boxes.at(-1).y + size + 8;
}

/** The name of a group, which stands out while one of its panels is chosen. */
export function paintGroup(ctx, { panel, rows, y, top }, { ahead }, data, theme, cell) {
  const { group } = panel;
  const chosen = chosenPanel(data, cell).group === group;
  if (ahead.stacked) {
    const look = { size: 17, weight: 650, theme };
    const [first] = group;
    return drawText(ctx, first.toUpperCase() + group.slice(1), 0, y - top - 8, theme.text, look);
  }
  const words = group.split(" ");
  const middle = y + Math.max(rows.size, ahead.wide ? 44 : 24) / 2;
  const look = { size: 24, weight: 650, theme };
  const ink = chosen ? theme.text : theme.muted;
  drawText(ctx, words.at(-1), 0, middle + (ahead.wide ? 16 : 8), ink, look);
  if (!ahead.wide) return 0;
  drawText(ctx, words.slice(0, -1).join(" "), 0, middle - 10, theme.muted, { theme });
  if (chosen) ctx.fillRect(0, middle + 22, 14, 2);
  return 0;
}

/** What stands above small panels. */
export function paintSmallHeading(ctx, { panel, x, y, title, heading }, theme) {
  const [name, note] = panel.small;
  if (heading) paintTitleAndNote(ctx, name, [[note, ""]], x, heading.at, heading.room, theme);
  drawText(ctx, title, x, y - 8, theme[panel.ink], { weight: 650, theme });
}
