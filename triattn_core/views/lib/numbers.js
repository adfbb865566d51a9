// Numbers as text.

/** Three significant digits: 0.175, 15.7, 0.00212, 3.1e-7. */
export function formatNumber(x) {
  if (!Number.isFinite(x)) return "–";
  if (x !== 0 && (Math.abs(x) < 1e-4 || Math.abs(x) >= 1e5))
    return x.toExponential(1).replace("-", "−");
  return String(Math.abs(x) >= 100 ? Math.round(x) : Number(x).toPrecision(3)).replace("-", "−");
}

export const formatShort = (x) =>
  (Math.abs(x) > 0 && Math.abs(x) < 0.00005
    ? x.toExponential(0)
    : String(Number(x.toPrecision(2)))
  ).replace("-", "−");

export const formatPercent = (x) => formatNumber(100 * x) + " %";

export const formatCount = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

/** With its sign: +0.175, −15.7. */
export const formatSigned = (x) => (x > 0 ? "+" : "") + formatNumber(x);

/** A change with its sign and a fixed number of digits; what rounds to zero has no sign. */
export function formatChange(x, digits) {
  const size = Math.abs(x).toFixed(digits);
  return (Number(size) === 0 ? "" : x < 0 ? "−" : "+") + size;
}

/** Three digits, and never a 1 or a 0 that is not one. */
export function formatProbability(p) {
  if (p >= 0.9995 && p < 1) return "> 0.999";
  return p > 0 && p < 0.0005 ? "< 0.001" : p.toFixed(3);
}
