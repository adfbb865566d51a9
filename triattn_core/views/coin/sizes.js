// Pixels of COIN's blocks.

export const HEAD = 52;
export const GUTTER = 28;
export const GATE = 176;
export const WIDE = 900;
export const LEAST = 150;
export const BETWEEN = 16;
export const TITLE = 24;
export const PITCH = 12.5; // the least height of a row: each has its label and its number
export const FINEST = 10; // pixels of a column, below which a narrow page stacks its maps
export const CHART = 104;
export const LINE = 21;
export const LEGEND = 88;
export const GATE_NOTES = ["0 takes in, 1 keeps", "line: half of the features"];
