// Pixels of the maps of heads.

export const HEAD = 44;
export const GUTTER = 26;
export const SCALE = 66;
export const BARS = 96;
export const CAPTION = 20;
export const STRIP = 12;
export const WIDE = 900;
export const OVERHANG = 34;
export const LEGIBLE = 16;
