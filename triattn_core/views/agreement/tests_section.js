// Whether two checkpoints differ by chance.

import { coloured } from "./rows.js";
import { make } from "../lib/elements.js";
import { formatCount } from "../lib/numbers.js";

/** The winner on the left, as the longer part of one bar. */
function testRow(one, data, theme) {
  const of = (title) => data.models.find((model) => model.title === title);
  const first = one.only_b >= one.only_a;
  const [win, lose] = first ? [one.b, one.a] : [one.a, one.b];
  const [more, less] = first ? [one.only_b, one.only_a] : [one.only_a, one.only_b];
  const counts = [
    [win, more],
    [lose, less],
  ];
  const parts = counts
    .filter(([, n]) => n > 0)
    .map(([title, n]) => {
      const part = make("i");
      Object.assign(part.style, {
        flexGrow: n,
        background: theme[of(title).mechanism] ?? theme.bar,
      });
      return part;
    });
  return make(
    "li",
    {},
    make(
      "span",
      { class: "names" },
      coloured(of(win), theme),
      make("span", {}, one.said, ...(one.power ? [make("sup", {}, one.power)] : [])),
      coloured(of(lose), theme),
    ),
    make("span", { class: "parts", "aria-hidden": "true" }, ...parts),
    make(
      "span",
      { class: "names" },
      make("b", {}, formatCount(more)),
      make("span", {}, formatCount(less)),
    ),
  );
}

export function testsSection(data, theme) {
  const list = make("ol", {}, ...data.tests.map((one) => testRow(one, data, theme)));
  const share = make("p", {}, "accuracy, %  ", data.accuracy.join("   "));
  return make(
    "section",
    { "aria-label": "Is it chance?", class: "chance" },
    make(
      "header",
      {},
      make("b", {}, "Is it chance?"),
      make("span", {}, "McNemar, exact, after Holm"),
    ),
    make("p", {}, `${data.unit} that only one of the two has right; one seed each`),
    list,
    share,
  );
}
