// Who is right where, as rows that can be chosen, and beside them whether two differ by chance.
// Draws elements only.

import { make } from "../lib/elements.js";
import { applyTheme, onThemeChange, themeFor } from "../lib/theme.js";
import { rowsSection } from "./rows.js";
import { testsSection } from "./tests_section.js";

/** Draws into `root`; again with a new payload it keeps where the focus was. */
export function mount(root, payload, host = {}) {
  const kept = (root.triattn ??= {});
  const theme = themeFor(payload.themes, root);
  kept.stop?.();
  const focused = root.getRootNode().activeElement?.dataset?.agreement;
  const send = (name) => host.send?.("agreement", { name });
  const tests = payload.tests.length ? [testsSection(payload, theme)] : [];
  const outer = make("div", { class: "agreement" }, rowsSection(payload, theme, send), ...tests);
  applyTheme(outer, theme);
  root.replaceChildren(outer);
  if (focused !== undefined) {
    outer.querySelector(`[data-agreement="${CSS.escape(focused)}"]`)?.focus();
  }
  kept.stop = onThemeChange(() => mount(root, payload, host));
  return kept.stop;
}
