// Texts as their reader knows them, a chat or a passage, beside the answers that can be chosen.  Draws elements only:
// what was typed is text, never HTML.

/** Three digits, and never a 1 or a 0 that is not one. */
function probability(p) {
  if (p >= 0.9995 && p < 1) return "> 0.999";
  return p > 0 && p < 0.0005 ? "< 0.001" : p.toFixed(3);
}

const sharesOf = (texts) => texts.map((text) => (text.runs.length ? sum(text.runs.map((run) => run.share)) : null));

/** A bar as long as its part of the longest, and the share as a number. */
function shareBar(share, most) {
  if (share === null) return make("span", { class: "share" });
  const bar = make("i");
  bar.style.width = 62 * (share / Math.max(most, 1e-9)) + "px";
  return make("span", { class: "share" }, bar, `${Number((100 * share).toPrecision(2))} %`);
}

function turn(text, i, share, most, role) {
  const looks = ["turn", ...(i % 2 ? ["even"] : []), ...(role ? ["asks", role] : []), ...(text.read ? [] : ["mute"])];
  const bubble = tongue(make("span", { class: "bubble", dir: "auto" }, text.text), text.text);
  const mark = make("span", { class: "mark", title: text.read ? text.long : `${text.long}: not read` }, text.short);
  return make("li", { class: looks.join(" ") }, mark, make("span", { class: "who" }, text.who), bubble, shareBar(share, most));
}

/** The passage, each sentence shaded by its share; what the model does not read is pale. */
function passage({ text, runs, begins, read }, most) {
  const letters = [...text], out = [], part = (from, to) => letters.slice(from, Math.max(from, to)).join("");
  const mute = (unread) => (unread ? [make("span", { class: "mute", title: "not read" }, unread)] : []);
  const plain = (from, to) => {
    const first = clamp(begins, from, to), last = clamp(read, first, to);
    out.push(...mute(part(from, first)), part(first, last), ...mute(part(last, to)));
  };
  let at = 0;
  for (const run of runs) {
    plain(at, run.start);
    const span = make("span", { class: "run", title: `${run.name}: ${percent(run.share)}` }, letters.slice(run.start, run.end).join(""));
    span.style.setProperty("--part", run.share / Math.max(most, 1e-9));
    out.push(span);
    at = run.end;
  }
  plain(at, letters.length);
  return tongue(make("div", { class: "passage", dir: "auto" }, ...out), text);
}

function leftSide(payload) {
  const { texts, words, chat, roles } = payload, shares = sharesOf(texts);
  const head = make("header", {}, make("b", {}, words.texts), make("span", {}, words.shares));
  const rest = make("p", { class: "rest" }, payload.rest);
  if (chat) {
    const most = Math.max(...shares), last = texts.length - 1;
    const turns = texts.map((text, i) => turn(text, i, shares[i], most, i === last ? roles[0] : ""));
    return [head, make("div", { class: "scroll", "data-scroll": "texts", tabindex: "0" }, make("ol", {}, ...turns)), rest];
  }
  const [first, ...asked] = texts, inside = Math.max(...first.runs.map((run) => run.share), 0);
  const most = Math.max(inside, ...shares.slice(1).map((one) => one ?? 0));
  const below = asked.map((text, i) => turn(text, 0, shares[i + 1], most, i === asked.length - 1 ? roles[0] : ""));
  return [head, make("div", { class: "scroll", "data-scroll": "texts", tabindex: "0", style: "max-height: 166px" }, passage(first, inside)), make("ol", { class: "question" }, ...below), rest];
}

/** What the models give an option: a bar and a number each. */
function given(shares, models, theme) {
  const parts = shares.flatMap((share, m) => {
    const bar = make("i");
    Object.assign(bar.style, { width: 100 * clamp(share, 0, 1) + "%", background: theme[models[m]?.mechanism] ?? theme.accent });
    return [make("span", { class: "track", "aria-hidden": "true" }, bar), make("b", {}, probability(share))];
  });
  return make("span", { class: shares.length > 1 ? "said several" : "said" }, ...parts);
}

function optionRow(payload, row, theme, send) {
  const { chosen, pinned, pins, words, models, roles } = payload;
  const text = tongue(make("span", { class: "text", dir: "auto", title: row.text }, row.text), row.text);
  const look = ["pick", roles[1], ...(row.at === pinned ? ["pinned"] : [])].join(" ");
  const pick = make("button", { type: "button", class: look, "aria-pressed": String(row.at === chosen), "data-option": row.at },
    make("span", { class: "mark", title: payload.chat ? `rank ${row.rank}` : "" }, row.mark), text, ...(row.right ? [make("span", { class: "chip" }, words.right)] : []), given(row.shares, models, theme));
  pick.addEventListener("click", () => send("option", row.at));
  if (!pins) return make("li", { class: "row" }, pick);
  const label = row.at === chosen ? "first" : row.at === pinned ? "second" : "compare";
  const pin = make("button", { type: "button", class: "pin", "aria-pressed": String(row.at === pinned || row.at === chosen), "data-pin": row.at }, label);
  if (label === "compare") pin.addEventListener("click", () => send("other", row.at));
  return make("li", { class: "row" }, pick, pin);
}

function rightSide(payload, theme, send) {
  const { words, rows, models } = payload;
  const swatch = ({ title, mechanism }) => {
    const square = make("i", { class: "swatch" });
    square.style.background = theme[mechanism] ?? theme.accent;
    return make("span", {}, square, title);
  };
  const aside = models.length > 1 ? make("span", { class: "heads" }, ...models.map(swatch)) : make("span", {}, payload.told);
  const list = make("ol", {}, ...rows.map((row) => optionRow(payload, row, theme, send)));
  return [make("header", {}, make("b", {}, words.options), aside), make("div", { class: "scroll", "data-scroll": "options" }, list)];
}

/** Draws into `root`; again with a new payload it keeps how far both lists were scrolled, and where the focus was. */
function mount(root, payload, host = {}) {
  const kept = (root.triattn ??= { scrolled: {} }), theme = themeFor(payload.themes, root), outer = make("div", { class: "answers" });
  kept.stop?.();
  const held = root.getRootNode().activeElement?.dataset?.option;
  const send = (what, at) => {
    root.querySelectorAll(".pick").forEach((one) => what === "option" && one.setAttribute("aria-pressed", String(Number(one.dataset.option) === at)));
    host.send?.(what, at);
  };
  wearTheme(outer, theme);
  outer.append(make("div", { class: "sides" }, make("section", { "aria-label": payload.words.texts }, ...leftSide(payload)), make("section", { "aria-label": payload.words.options }, ...rightSide(payload, theme, send))));
  root.replaceChildren(outer);
  for (const box of outer.querySelectorAll("[data-scroll]")) {
    const name = box.dataset.scroll;
    const unread = !payload.chat && payload.texts[0].begins > 0 ? box.querySelector(".passage > .mute") : null;
    const first = unread ? unread.offsetTop + unread.offsetHeight - 60 : name === "texts" && payload.chat ? box.scrollHeight : 0;
    box.scrollTop = kept.scrolled[name] ?? first;
    box.addEventListener("scroll", () => { kept.scrolled[name] = box.scrollTop; });
  }
  const row = outer.querySelector('[aria-pressed="true"]');
  if (row && kept.scrolled.options === undefined) row.closest("[data-scroll]").scrollTop = Math.max(0, row.offsetTop - 150);
  if (held !== undefined) outer.querySelector(`[data-option="${held}"]`)?.focus();
  const wish = matchMedia("(prefers-color-scheme: dark)"), dress = () => mount(root, payload, host);
  wish.addEventListener("change", dress);
  kept.stop = () => wish.removeEventListener("change", dress);
  return kept.stop;
}
