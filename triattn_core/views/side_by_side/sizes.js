// Pixels of maps side by side.

export const HEAD = 90;
export const ROW_BARS = 76;
export const SCALE = 86;
export const GUTTER = 20;
export const DIVERGENCE = 160;
export const SHARED = 34;
export const NARROW = 150;
export const BETWEEN = 22;
export const OVERHANG = 44;
export const GAP = 4;
