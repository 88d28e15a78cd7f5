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
    nameTimes(shown);
  }
}
if (document.querySelector("[data-refresh]")) setInterval(() => refresh().catch(() => {}), 10_000);

// Times: adds the reader's local time as a tooltip.
function nameTimes(within) {
  for (const time of within.querySelectorAll("time[datetime]")) {
    time.title = new Date(time.dateTime).toLocaleString();
  }
}
nameTimes(document);

// Copy buttons: a button with data-copy copies the text of the element that it names.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}

// Select-all boxes: a box with data-all ticks every box of that name in its form.
for (const box of document.querySelectorAll("[data-all]")) {
  box.parentElement.hidden = false;
  box.addEventListener("change", () => {
    for (const each of box.form.querySelectorAll(`input[name="${box.dataset.all}"]`)) {
      each.checked = box.checked;
    }
  });
}

// The token of an invitation: moved from the URL's fragment into the field, and removed from the address at once.
const token = document.getElementById("set-up-token");
if (token && location.hash.length > 1) {
  token.querySelector("input").value = location.hash.slice(1);
  token.hidden = true;
  history.replaceState(null, "", location.pathname);
  document.querySelector('input[type="password"]').focus();
}

// Keys: a field with data-key gets the focus by that key, unless something is being typed.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input:not([type=checkbox]), select, textarea")) return;
  const field = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!field) return;
  event.preventDefault();
  field.focus();
});
