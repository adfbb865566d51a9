// Bytes, floats and small sums.

/** base64 → Uint8Array; a plain loop, since the largest cube has half a million cells. */
export function unpackBytes(packed) {
  const text = atob(packed);
  const found = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) found[i] = text.charCodeAt(i);
  return found;
}

export const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

export const sum = (list) => list.reduce((a, b) => a + b, 0);

export const mean = (list) => sum(list) / list.length;
