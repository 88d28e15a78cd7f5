// Additions to the pages for browsers with JavaScript. Every page works without it. The content security
// policy allows text to become HTML only through a trusted type.
"use strict";

// Lists that refresh: an element with data-refresh is fetched again every 10 s while the page is visible and nothing
// in the element has the focus.
const policy = globalThis.trustedTypes?.createPolicy("panel", { createHTML: (text) => text });
const parse = (text) =>
  new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");

async function refresh() {
  if (document.hidden) return;
  const response = await fetch(location.href, { headers: { "x-refresh": "1" } });
  if (!response.ok || response.redirected) return;
  const fresh = parse(await response.text());
  for (const old of document.querySelectorAll("[data-refresh]")) {
    const next = fresh.getElementById(old.id);
    const isUsed = old.contains(document.activeElement) || old.querySelector(":checked, [open]");
    if (!next || isUsed) continue;
    const shown = document.importNode(next, true);
    old.replaceWith(shown);
    dropZones(shown);
    nameTimes(shown);
  }
}
if (document.querySelector("[data-refresh]")) setInterval(() => refresh().catch(() => {}), 10_000);

// Times: lists, but those with dates, and facts show how long ago something was, and the exact time, in the reader's zone
// and in UTC, as a tooltip or after a click. Other times only get the tooltip.
const { zone = "UTC" } = document.documentElement.dataset;
const timeZone = zone === "UTC" ? undefined : zone;
const exact = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
  timeZone,
});

function relativeText(at, now) {
  const minutes = Math.round(Math.abs(now - at) / 60_000);
  if (minutes < 1) return "now";
  if (minutes > 30 * 1440) return at.toISOString().slice(0, 10);
  const [count, unit] =
    minutes < 60
      ? [minutes, "min"]
      : minutes < 48 * 60
        ? [Math.round(minutes / 60), "h"]
        : [Math.round(minutes / 1440), "days"];
  return at < now ? `${count} ${unit} ago` : `in ${count} ${unit}`;
}

function nameTimes(within) {
  const now = Date.now();
  for (const time of within.querySelectorAll("time[datetime]:not([data-zoned])")) {
    const at = new Date(time.dateTime);
    const utc = `${time.dateTime.slice(0, 19).replace("T", " ")} UTC`;
    time.title = `${exact.format(at)}\n${utc}`;
    if (!time.closest(".list:not(.dated), .facts")) continue;
    time.textContent = "exact" in time.dataset ? utc : relativeText(at, now);
  }
}

// Headings need not name the zone once the times beside them say how long ago.
function dropZones(within) {
  const named = ` (${zone})`;
  for (const name of within.querySelectorAll(
    ":not(.dated) > thead th, :not(.dated) > thead th > *, dt",
  )) {
    // A heading with a link or hidden text keeps it.
    const isText = name.childElementCount === 0 && name.textContent.endsWith(named);
    if (isText) name.textContent = name.textContent.slice(0, -named.length);
  }
  for (const cell of within.querySelectorAll("table:not(.dated) [data-label]")) {
    cell.dataset.label = cell.dataset.label.replace(` (${zone})`, "");
  }
}
dropZones(document);
nameTimes(document);
setInterval(() => nameTimes(document), 60_000);
document.addEventListener("click", ({ target }) => {
  if (!target.matches("time:not([data-zoned])")) return;
  if (!("exact" in target.dataset)) target.dataset.exact = "";
  else delete target.dataset.exact;
  nameTimes(target.parentElement);
});

// Copy buttons: a button with data-copy copies the text of the element that it names.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = button.dataset.copied ?? "Copied";
  });
}

// Select-all boxes: a box with data-all ticks every box of that name in its form.
for (const box of document.querySelectorAll("[data-all]")) {
  box.parentElement.hidden = false;
  box.addEventListener("change", () => {
    for (const each of box.form.elements) {
      if (each.name === box.dataset.all) each.checked = box.checked;
    }
  });
}

// Ticked rows: their number and the sum of their amounts, beside the buttons for them.
function countTicked() {
  for (const shown of document.querySelectorAll("[data-ticked]")) {
    const name = shown.dataset.ticked;
    const ticked = [...document.querySelectorAll(`input[name="${name}"]:checked`)];
    const amounts = ticked.map(({ dataset }) => Number(dataset.micros));
    const sum = amounts.reduce((all, each) => all + each, 0) / 1e6;
    const money = Number.isNaN(sum) ? "" : `, ${sum.toFixed(2)} USD`;
    shown.textContent = `${ticked.length} ${name}${ticked.length === 1 ? "" : "s"}${money}`;
  }
}
document.addEventListener("change", countTicked);
countTicked();

// Search as one types: a form with data-live shows the part of its page that it names again after each change.
for (const form of document.querySelectorAll("form[data-live]")) {
  let [wait, last] = [0, 0];
  const show = async () => {
    const turn = (last += 1);
    const address = `${form.action}?${new URLSearchParams(new FormData(form))}`;
    const response = await fetch(address);
    if (!response.ok || response.redirected) return;
    const next = parse(await response.text()).getElementById(form.dataset.live);
    if (!next || turn !== last) return;
    document.getElementById(form.dataset.live).replaceWith(document.importNode(next, true));
    history.replaceState(null, "", address);
  };
  form.addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(() => show().catch(() => {}), 200);
  });
}

// Buttons that say the amount that is typed, as data-says and data-confirms have it with {} in its place. Up to data-most
// micros, what the button says is confirmed by pressing it.
function amountText(text) {
  const [, whole, decimals = ""] = /^\s*0*(\d{1,9})(?:\.(\d{1,6}))?\s*$/.exec(text) ?? [];
  if (whole === undefined || Number(text) === 0) return null;
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return `${grouped}.${decimals.replace(/0+$/, "").padEnd(2, "0")}`;
}
for (const button of document.querySelectorAll("[data-says]")) {
  const { says, confirms, most } = button.dataset;
  const { amount, confirmed } = button.form.elements;
  const plain = button.textContent;
  const say = () => {
    const text = amountText(amount.value);
    button.textContent = text ? says.replace("{}", text) : plain;
  };
  amount.addEventListener("input", say);
  say();
  button.addEventListener("click", () => {
    const text = amountText(amount.value);
    const isShown = text && Number(amount.value) * 1e6 <= Number(most);
    confirmed.value = isShown ? confirms.replace("{}", text) : "";
  });
}

// A box with data-finds shows results from that address while one types: arrows choose one, Enter opens it.
for (const box of document.querySelectorAll("[data-finds]")) {
  const said = box.form.querySelector("output");
  let [list, wait, last] = [null, 0, 0];
  const options = () => [...(list?.querySelectorAll("[role=option]") ?? [])];
  const chosen = () => list?.querySelector("[aria-selected=true]");
  const close = () => {
    list?.remove();
    list = null;
    last += 1;
    box.ariaExpanded = "false";
    box.removeAttribute("aria-activedescendant");
  };
  const show = async () => {
    const turn = (last += 1);
    const text = box.value.trim();
    if (text === "") return close();
    const response = await fetch(`${box.dataset.finds}?${new URLSearchParams({ q: text })}`);
    const next = response.ok && parse(await response.text()).getElementById("finds");
    if (!next || turn !== last) return;
    close();
    said.textContent = next.dataset.count;
    if (!next.hasChildNodes()) return;
    list = document.importNode(next, true);
    box.form.append(list);
    box.ariaExpanded = "true";
    box.setAttribute("aria-controls", list.id);
  };
  const choose = (step) => {
    const all = options();
    const at = all.indexOf(chosen());
    const next = all.at(at < 0 ? (step > 0 ? 0 : -1) : (at + step) % all.length);
    for (const each of all) each.ariaSelected = String(each === next);
    box.setAttribute("aria-activedescendant", next.id);
    next.scrollIntoView({ block: "nearest" });
  };
  box.role = "combobox";
  box.autocomplete = "off";
  box.ariaAutoComplete = "list";
  box.ariaExpanded = "false";
  box.addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(() => show().catch(close), 150);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    else if (!list) return;
    else if (event.key === "ArrowDown") choose(1);
    else if (event.key === "ArrowUp") choose(-1);
    else if (event.key === "Enter" && chosen()) location.href = chosen().dataset.href;
    else return;
    event.preventDefault();
  });
  box.addEventListener("blur", close);
  // Pressing a result must not take the focus from the box, which would close the list first.
  box.form.addEventListener("mousedown", (event) => {
    const option = event.target.closest("[role=option]");
    if (!option) return;
    event.preventDefault();
    location.href = option.dataset.href;
  });
}

// Menus: a click elsewhere and Escape close them.
function closeMenus(except) {
  for (const menu of document.querySelectorAll(".pop[open]")) {
    if (!menu.contains(except)) menu.open = false;
  }
}
document.addEventListener("click", ({ target }) => closeMenus(target));
document.addEventListener("keydown", ({ key }) => key === "Escape" && closeMenus(null));

// The token of an invitation: moved from the URL's fragment into the field, and removed from the address at once.
const token = document.getElementById("link-token");
if (token && location.hash.length > 1) {
  token.querySelector("input").value = location.hash.slice(1);
  // Forms that show the same page again, such as that of the language, keep the token.
  for (const form of document.forms) if (!form.contains(token)) form.action += location.hash;
  token.hidden = true;
  history.replaceState(null, "", location.pathname);
  document.querySelector('input[type="password"]')?.focus();
}

// Whoever must sign in before a page gets its fragment too.
for (const form of document.forms) if (form.elements.next) form.action += location.hash;

// Keys: a field with data-key gets the focus by that key, unless something is being typed.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input:not([type=checkbox]), select, textarea")) return;
  const field = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!field) return;
  event.preventDefault();
  field.focus();
});
