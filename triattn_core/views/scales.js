// What the drawing files share: bytes, numbers, scales and themes.

/** base64 → Uint8Array; a plain loop, since the largest cube has half a million cells. */
function bytes(packed) {
  const text = atob(packed), found = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) found[i] = text.charCodeAt(i);
  return found;
}
const floats = (packed) => new Float32Array(bytes(packed).buffer);
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
const sum = (list) => list.reduce((a, b) => a + b, 0);

// ---- numbers ----------------------------------------------------------------------------------------------------

/** Three significant digits: 0.175, 15.7, 0.00212, 3.1e-7. */
function number(x) {
  if (!Number.isFinite(x)) return "–";
  if (x !== 0 && (Math.abs(x) < 1e-4 || Math.abs(x) >= 1e5)) return x.toExponential(1).replace("-", "−");
  return String(Math.abs(x) >= 100 ? Math.round(x) : Number(x).toPrecision(3)).replace("-", "−");
}
const short = (x) => (Math.abs(x) > 0 && Math.abs(x) < 0.00005 ? x.toExponential(0) : String(Number(x.toPrecision(2)))).replace("-", "−");
const percent = (x) => number(100 * x) + " %";
const count = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

// ---- scales, as palette.scale_payload writes them ---------------------------------------------------------------

/** The value that a level stands for. */
function valueOf(scale, level) {
  const t = level / (scale.steps - 1);
  if (scale.kind === "log") return scale.low * (scale.high / scale.low) ** t;
  const s = 2 * t - 1;
  return scale.limit * Math.sign(s) * Math.abs(s) ** (1 / scale.power);
}

/** Where a value stands on its scale, 0 to 1. */
function positionOf(scale, value) {
  if (scale.kind === "linear") return clamp(value / scale.high, 0, 1);
  if (scale.kind === "log") return clamp(Math.log(Math.max(value, 1e-30) / scale.low) / Math.log(scale.high / scale.low), 0, 1);
  const s = clamp(value / scale.limit, -1, 1);
  return (1 + Math.sign(s) * Math.abs(s) ** scale.power) / 2;
}

// ---- themes -----------------------------------------------------------------------------------------------------

/** The theme that fits the page around `element`: Streamlit's variable where there is one, else the system's wish. */
function themeFor(themes, element) {
  const page = getComputedStyle(element).getPropertyValue("--st-background-color").trim();
  const rgb = page.match(/^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i)?.slice(1).map((h) => parseInt(h, 16))
    ?? page.match(/^rgba?\(([^)]+)\)/)?.[1].split(/[ ,]+/).slice(0, 3).map(Number);
  const dark = rgb ? rgb[0] * 0.3 + rgb[1] * 0.6 + rgb[2] * 0.1 < 128 : matchMedia("(prefers-color-scheme: dark)").matches;
  return { ...themes[dark ? "dark" : "light"], dark };
}

/** CSS colours of a table: `colours[level]`; of a signed one also the inks of the dash on what is below zero. */
function colourTable(theme, kind) {
  const table = bytes(theme.tables[kind]), inks = kind === "signed" ? { strong: theme.page, weak: theme.text } : null;
  return Object.assign(Array.from({ length: table.length / 3 }, (_, i) => `rgb(${table[3 * i]},${table[3 * i + 1]},${table[3 * i + 2]})`), { inks });
}

/** Gives the named colours to CSS as --t-page, --t-text, …. */
function wearTheme(element, theme) {
  for (const [name, colour] of Object.entries(theme)) {
    if (typeof colour === "string") element.style.setProperty("--t-" + name.replace("_", "-"), colour);
  }
  element.style.colorScheme = theme.dark ? "dark" : "light";
}

const font = (theme, size = 13, weight = 400) => `${weight} ${size}px ${theme.fonts}`;
