// The theme of the page around a figure: colours, colour tables, fonts.

import { unpackBytes } from "./arrays.js";

/**
 * The theme that fits the page around `element`: Streamlit's variable where there is one, else the
 * system's wish.
 */
export function themeFor(themes, element) {
  const page = getComputedStyle(element).getPropertyValue("--st-background-color").trim();
  const rgb =
    page
      .match(/^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i)
      ?.slice(1)
      .map((h) => parseInt(h, 16)) ??
    page
      .match(/^rgba?\(([^)]+)\)/)?.[1]
      .split(/[ ,]+/)
      .slice(0, 3)
      .map(Number);
  const dark = rgb
    ? rgb[0] * 0.3 + rgb[1] * 0.6 + rgb[2] * 0.1 < 128
    : matchMedia("(prefers-color-scheme: dark)").matches;
  return { ...themes[dark ? "dark" : "light"], dark };
}

/**
 * CSS colours of a table: `colours[level]`; of a signed one also the inks of the dash on what is
 * below zero.
 */
export function colourTable(theme, kind) {
  const table = unpackBytes(theme.tables[kind]);
  const inks = kind === "signed" ? { strong: theme.page, weak: theme.text } : null;
  return Object.assign(
    Array.from(
      { length: table.length / 3 },
      (_, i) => `rgb(${table[3 * i]},${table[3 * i + 1]},${table[3 * i + 2]})`,
    ),
    { inks },
  );
}

/** Gives the named colours to CSS as --t-page, --t-text, …. */
export function applyTheme(element, theme) {
  for (const [name, colour] of Object.entries(theme)) {
    if (typeof colour === "string")
      element.style.setProperty("--t-" + name.replace("_", "-"), colour);
  }
  element.style.colorScheme = theme.dark ? "dark" : "light";
}

export const font = (theme, size = 13, weight = 400) => `${weight} ${size}px ${theme.fonts}`;

/** Calls `dress` when the user's system turns light or dark; returns what ends that. */
export function onThemeChange(dress) {
  const wish = matchMedia("(prefers-color-scheme: dark)");
  wish.addEventListener("change", dress);
  return () => wish.removeEventListener("change", dress);
}
