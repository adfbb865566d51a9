// Pixels of the maps of similarity functions.

export const HEAD = 70;
export const GUTTER = 24;
export const SCALE = 65;
export const FOCUS = 17;
export const TALL = 15;
export const REST = 210;
export const SIDE = 176;
export const WIDE = 1000;
export const LEAST = 120;
export const OVERHANG = 40;
