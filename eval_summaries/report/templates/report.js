// The report's one script: sorts the ranking, compares two systems, lists examples and shows one with its evidence.
// Everything that comes from the run is set as text, never as HTML; the HTML of the examples was made with the page.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const templates = new Map(Object.entries(data.templates)); // an id may be "constructor"
const scores = new Map(Object.entries(data.scores));
const LISTED = 300;

// control characters, which a browser would drop, as the pictures that Unicode has of them
const visible = (content) => String(content).replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, (sign) => String.fromCharCode(0x2400 + sign.charCodeAt(0)));

function put(tag, content, parent, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = visible(content);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  parent.append(made);
  return made;
}

const shown = (value, digits = 3) => (value === null || value === undefined ? "" : value.toFixed(digits));

// ---- light and dark ----
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;
root.classList.toggle("dark", dark.matches);
dark.addEventListener("change", () => root.classList.toggle("dark", dark.matches));
$("theme").hidden = false;
$("theme").addEventListener("click", () => root.classList.toggle("dark"));

// ---- the ranking ----
function sortBy(table, column, ascending) {
  const body = table.tBodies[0];
  const value = (row) => {
    const cell = row.cells[column];
    return "value" in cell.dataset ? (cell.dataset.value === "" ? null : Number(cell.dataset.value)) : cell.textContent;
  };
  const rows = [...body.rows].map((row, place) => [value(row), place, row]);
  rows.sort(([one, first], [other, second]) => {
    if (one === null || other === null) return (one === null) - (other === null) || first - second;
    const order = typeof one === "number" ? one - other : one.localeCompare(other);
    return (ascending ? order : -order) || first - second;
  });
  body.append(...rows.map((found) => found[2]));
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    if (place === column) head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    else head.removeAttribute("aria-sort");
  });
}

[...$("ranks").tHead.rows[0].cells].forEach((head, column) => {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const now = head.getAttribute("aria-sort");
    // the better end first: high, but for names and for scores of which lower is better
    const first = column === 0 || data.lower.includes(head.dataset.key);
    sortBy($("ranks"), column, now ? now === "descending" : first);
  });
});

// ---- what is chosen: in the address, so that a link names it ----
const state = { one: 0, other: Math.min(1, data.systems.length - 1), score: data.primary[0] ?? data.keys[0], example: null, view: null };

function readAddress() {
  const found = new URLSearchParams(location.hash.slice(1));
  for (const side of ["one", "other"]) {
    const place = data.systems.indexOf(found.get(side));
    if (place >= 0) state[side] = place;
  }
  if (scores.has(found.get("score"))) state.score = found.get("score");
  const example = found.get("example");
  if (example !== null && data.ids.includes(example)) state.example = example;
  return example !== null;
}

function address(example) {
  const parts = { example, one: data.systems[state.one], other: data.systems[state.other], score: state.score };
  return `#${new URLSearchParams(parts)}`;
}

// ---- two systems ----
function choose(select, values, current) {
  select.replaceChildren();
  values.forEach(([value, label]) => put("option", label, select, { value }));
  select.value = current;
}

function compareTwo() {
  const body = $("pair").tBodies[0];
  body.replaceChildren();
  $("pair-one").textContent = visible(data.systems[state.one]);
  $("pair-other").textContent = visible(data.systems[state.other]);
  for (const key of data.keys) {
    const turned = state.one > state.other;
    const found = data.pairs[key][`${state.one} ${state.other}`] ?? data.pairs[key][`${state.other} ${state.one}`];
    const swapped = !data.pairs[key][`${state.one} ${state.other}`];
    const row = put("tr", "", body);
    const arrow = data.lower.includes(key) ? " ↓" : data.neutral.includes(key) ? "" : " ↑";
    put("th", key + arrow, row, { scope: "row" });
    put("td", shown(data.means[key][state.one]), row);
    put("td", shown(data.means[key][state.other]), row);
    if (!found || state.one === state.other) {
      for (let cell = 0; cell < 4; cell += 1) put("td", "", row);
      continue;
    }
    const [n, gap, p, adjusted] = found;
    put("td", shown(swapped ? -gap : gap), row);
    put("td", shown(p, 4), row);
    put("td", shown(adjusted, 4) + (adjusted < 0.05 ? " *" : ""), row);
    put("td", n, row);
  }
}

// ---- the list of examples ----
const texts = new Map();
function textOf(id) {
  if (!templates.has(id)) return id.toLowerCase();
  if (!texts.has(id)) texts.set(id, `${id} ${$(`example-${templates.get(id)}`).content.textContent}`.toLowerCase());
  return texts.get(id);
}

function listed() {
  const values = scores.get(state.score);
  const search = $("search").value.trim().toLowerCase();
  const side = state[$("of").value];
  const [from, to] = ["from", "to"].map((id) => ($(id).value === "" ? null : Number($(id).value)));
  const rows = data.ids.map((id, place) => {
    const [one, other] = [values[place][state.one], values[place][state.other]];
    const gap = one === null || other === null ? null : one - other;
    return { id, one, other, gap, value: values[place][side] };
  });
  const kept = rows.filter(({ id, value }) =>
    (from === null || (value !== null && value >= from)) &&
    (to === null || (value !== null && value <= to)) &&
    (!search || textOf(id).includes(search)));
  const alone = state.one === state.other;  // a single system: the lowest score first
  return kept.sort((a, b) => (alone
    ? (a.one ?? Infinity) - (b.one ?? Infinity)
    : (b.gap === null ? -1 : Math.abs(b.gap)) - (a.gap === null ? -1 : Math.abs(a.gap))));
}

function list() {
  const rows = listed();
  const body = $("list").querySelector("tbody");
  body.replaceChildren();
  $("list-one").textContent = visible(data.systems[state.one]);
  $("list-other").textContent = visible(data.systems[state.other]);
  for (const { id, one, other, gap } of rows.slice(0, LISTED)) {
    const row = put("tr", "", body, { "data-id": id });
    const name = put("td", "", row);
    if (templates.has(id)) put("a", id, name, { href: address(id), dir: "auto" });
    else put("span", id, name, { title: "scores only", dir: "auto" });
    for (const value of [one, other, gap]) put("td", shown(value), row);
    if (id === state.example) row.setAttribute("aria-current", "true");
  }
  const hidden = rows.length - Math.min(rows.length, LISTED);
  const lacking = data.all - data.ids.length;
  $("more").textContent = [
    rows.length ? "" : "No example is like this.",
    hidden ? `and ${hidden} more` : "",
    lacking ? `${lacking} examples are not in the page` : "",
  ].filter(Boolean).join("; ");
  return rows;
}

// ---- one example ----
function show() {
  const place = templates.get(state.example);
  $("shown").replaceChildren();
  if (place === undefined) {
    if (state.example !== null) put("p", "The page has only the scores of this example.", $("shown"), { class: "sm-note" });
    return;
  }
  const made = $(`example-${place}`).content.cloneNode(true);
  const link = made.querySelector("a.link");
  link.textContent = visible(state.example);
  link.href = address(state.example);
  const row = data.ids.indexOf(state.example);
  const sides = [...made.querySelectorAll(".side")];
  for (const side of sides) {
    const system = Number(side.dataset.system);
    side.hidden = system !== state.one && system !== state.other;
    side.classList.toggle("first", system === state.one);
    for (const key of data.primary) {
      if (row < 0 || !scores.has(key)) continue;
      put("span", `${key} `, side.querySelector(".values"));
      put("b", shown(scores.get(key)[row][system]) || "undefined", side.querySelector(".values"));
    }
  }
  const [first] = sides.filter((side) => Number(side.dataset.system) === state.one);
  if (first) first.parentNode.prepend(first);
  const open = sides.filter((side) => !side.hidden);
  if (!open.length) put("p", "Neither system has this example.", made.querySelector(".sides"));
  const views = [...new Set(open.flatMap((side) => [...side.querySelectorAll(".view")].map((view) => view.dataset.view)))]
    .filter((name) => name !== "failed" && name !== "plain");
  const wanted = [state.view, data.views[state.score], ...views].find((name) => views.includes(name));
  const buttons = made.querySelector(".views");
  for (const name of views) {
    const button = put("button", VIEWS[name], buttons, { type: "button", "aria-pressed": name === wanted });
    button.addEventListener("click", () => {
      state.view = name;
      show();
    });
  }
  for (const view of made.querySelectorAll(".view")) {
    view.hidden = !["failed", "plain", wanted].includes(view.dataset.view);
  }
  const used = open.map((side) => side.dataset.texts);
  for (const box of made.querySelectorAll(".compared")) box.hidden = !used.includes(box.dataset.texts);
  $("shown").append(made);
}

const VIEWS = {
  words: "Shared words", support: "Support", names: "Characters", pairs: "Relations", unsupported: "Not in the document",
};

// a source sentence is found in the document: the one of this click
$("shown").addEventListener("click", (event) => {
  const button = event.target.closest("button.goto");
  if (!button) return;
  for (const one of $("shown").querySelectorAll(".source.here")) one.classList.remove("here");
  const box = $("shown").querySelector(`.compared[data-texts="${button.closest(".side").dataset.texts}"]`);
  const source = box.querySelector(`.source[data-source="${button.dataset.source}"]`);
  if (!source) return;
  source.classList.add("here");
  box.scrollTop = source.offsetTop - box.offsetTop - box.clientHeight / 3;
  box.scrollIntoView({ block: "nearest" });
});

function update() {
  compareTwo();
  const rows = list();
  if (state.example === null || !rows.some(({ id }) => id === state.example)) {
    state.example = (rows.find(({ id }) => templates.has(id)) ?? { id: null }).id;
    list();
  }
  show();
}

function step(by) {
  const open = listed().slice(0, LISTED).map(({ id }) => id).filter((id) => templates.has(id));
  const next = open[Math.min(open.length - 1, Math.max(0, open.indexOf(state.example) + by))];
  if (next !== undefined) location.hash = address(next);
}

if (data.keys.length && data.systems.length) {
  $("two").hidden = data.systems.length < 2;
  $("examples").hidden = false;
  const arrived = readAddress();
  const names = data.systems.map((name, place) => [place, name]);
  choose($("one"), names, state.one);
  choose($("other"), names, state.other);
  choose($("score"), [...scores.keys()].map((key) => [key, key]), state.score);
  for (const side of ["one", "other"]) {
    $(side).addEventListener("change", () => { state[side] = Number($(side).value); update(); });
  }
  $("score").addEventListener("change", () => { state.score = $("score").value; state.view = null; update(); });
  for (const id of ["of", "from", "to", "search"]) $(id).addEventListener("input", update);
  window.addEventListener("hashchange", () => {
    if (!readAddress()) return;
    for (const id of ["one", "other", "score"]) $(id).value = state[id];
    update();
    $("list").querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (event.key === "/") { event.preventDefault(); $("search").focus(); }
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
  });
  update();
  if (arrived) $("examples").scrollIntoView();
}
