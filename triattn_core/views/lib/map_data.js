// What the payloads of several maps have in common: axes `query` and `key`, and a value a pair.

export const axisSize = (data, axis) => data.axes[axis].label.length;

/** Where the pair of a cell [query, key, …] stands in a map, row by row. */
export const flatIndex = (data, [query, key]) => query * axisSize(data, "key") + key;
